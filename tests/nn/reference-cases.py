# SPDX-License-Identifier: MIT
"""Writes reference-cases.c: cases that a float64 reference computed, one sentence at a time.

    python3 reference-cases.py CASES.h5 > reference-cases.c

Input: HDF5 with /COMPONENT/NAME/{inputs,weights,outputs,cotangents,gradients}/...; the gradients are those of
sum (output * cotangent). y = x W + b, W is [in, out]. Only the cases named here are taken.
"""
import sys

import h5py

CASES = [
    'transformer/attend',
    'transformer/attend_bias_causal',
    'transformer/cross_entropy_0.1',
    'transformer/cross_entropy_0.1_others',
    'transformer/encoder_pre_relu',
    'transformer/encoder_post_gelu',
    'transformer/layer_norm_1e-06',
    'transformer/positions_interleaved',
    'transformer/positions_concatenated',
    'combiner/flat_post_304',
    'combiner/hierarchical_pre_304',
    'combiner/parallel_post_304',
    'combiner/serial_pre_304',
    'recurrent/gru_before',
    'recurrent/gru_after',
    'recurrent/gru_after_ch',
    'recurrent/lstm',
    'recurrent/bigru_before',
    'recurrent/bilstm',
    'recurrent/conditional_flat_32',
    'recurrent/conditional_flat_sentinel_30',
    'recurrent/conditional_hierarchical_30',
    'recurrent/conditional_hierarchical_sentinel_32',
    'recurrent/conditional_parallel_32',
    'recurrent/conditional_serial_30',
    'recurrent/luong',
    'recurrent/plain_flat_30',
    'recurrent/plain_flat_sentinel_32',
    'recurrent/plain_flat_shared_32',
    'recurrent/plain_hierarchical_32',
    'recurrent/plain_hierarchical_sentinel_30',
    'recurrent/plain_parallel_32',
    'recurrent/plain_serial_32',
    'recurrent/plain_serial_4',
    'recurrent/read_additive',
    'recurrent/read_dot',
    'recurrent/read_multiplicative',
    'trees/bigru_balanced5_before',
    'trees/bigru_left4_before',
    'trees/bigru_random7_after',
    'trees/bigru_word_before',
    'trees/lstm_random7',
    'trees/lexical_random7',
    'coverage/word_additive_before',
    'coverage/tree_additive_before',
    'coverage/neighbour_additive_before',
    'coverage/fertility_additive_before',
    'pyramid/act',
    'pyramid/cif',
    'pyramid/conv_soft1',
    'pyramid/gru_soft1',
    'pyramid/lstm_soft1',
    'pyramid/mean_soft1',
]


def shape(name, array):
    """Rows and width; heads above rows stand below each other. A vector is a row, but for maps to one number."""
    if array.ndim < 2:
        return (array.size, 1) if name.endswith(('/f', 'weights/w')) else (1, array.size)
    return array.size // array.shape[-1] if array.shape[-1] else 0, array.shape[-1]


def main():
    arrays = []
    with h5py.File(sys.argv[1], 'r') as file:
        for case in CASES:
            file[case].visititems(lambda name, item: arrays.append((case + '/' + name, item[()]))
                                  if isinstance(item, h5py.Dataset) else None)
    print('/* SPDX-License-Identifier: MIT */')
    print('/* Written by reference-cases.py; do not edit. */')
    print('#include "reference.h"\n')
    print('/* clang-format off */')
    for i, (_, array) in enumerate(arrays):
        numbers = [format(x, '.12g') for x in array.ravel()] or ['0']
        print('static const double numbers_%d[] = {' % i)
        for start in range(0, len(numbers), 8):
            print('  ' + ', '.join(numbers[start:start + 8]) + ',')
        print('};')
    print('\nconst ReferenceArray reference_arrays[] = {')
    for i, (name, array) in enumerate(arrays):
        print('  { "%s", %d, %d, numbers_%d },' % ((name,) + shape(name, array) + (i,)))
    print('};')
    print('const unsigned n_reference_arrays = sizeof reference_arrays / sizeof *reference_arrays;')
    print('/* clang-format on */')


main()
