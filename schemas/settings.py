#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C code of the settings that a schema describes: a struct, names of choices, and the table that fills the
struct.

Usage: settings.py PLUGIN.ini HEADER.h
       settings.py GROUP.ini HEADER.h TABLE.c INCLUDER

The header of a plugin has everything. A group of plait has its table in TABLE.c, which includes INCLUDER for the types
of the header.
"""
import configparser
import json
import os
import re
import sys

FIELDS = {"integer": "gint64 ", "real": "double ", "boolean": "gboolean ", "text": "const char *", "choice": "gint ", "list": "const char *"}
KINDS = {"encoder": "Encoder", "combiner": "Combiner", "coverage": "Coverage", "output": "Output", "decoder": "Decoder"}
FLAGS = {"neutral", "path", "optional"}
KEYS = {"type", "default", "minimum", "maximum", "choices", "enum", "flags", "summary", "reference"}
# keywords of C, which cannot name a field
RESERVED = set("""auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while""".split())
PREFIX = "parameter."


class Parameter:
    """A group [parameter.NAME] and its field in C."""

    def __init__(self, path, name, keys):
        self.name, self.keys, self.place = name, keys, f"{path}: [{PREFIX}{name}]"
        self.field = re.sub(r"\W", "_", name)
        if self.field in RESERVED:
            sys.exit(f"{self.place} has the name {name}, a keyword of C; choose another name, such as {name}_value")
        for key in set(keys) - KEYS:
            sys.exit(f"{self.place} {key}={keys[key]} is not a key of a parameter; give one of {', '.join(sorted(KEYS))}")
        self.type = self.take("type", f"type={', '.join(FIELDS)}")
        if self.type not in FIELDS:
            sys.exit(f"{self.place} type={self.type} is not a type; give one of {', '.join(FIELDS)}")
        self.summary = self.take("summary", "summary= and one line on what it means")
        self.choices = [item.strip() for item in keys.get("choices", "").split(";") if item.strip()]
        if self.type == "choice" and not self.choices:
            self.take("choices", "choices=FIRST;SECOND")
        self.enum, self.prefix = (keys.get("enum", "").split() + [None, None])[:2]
        if self.enum and not self.prefix:
            sys.exit(f"{self.place} enum={self.enum} has no prefix of constants; give TYPE PREFIX")
        self.flags = [flag for flag in keys.get("flags", "").split(";") if flag]
        if not FLAGS.issuperset(self.flags):
            sys.exit(f"{self.place} flags={keys['flags']} has an unknown flag; give some of {', '.join(sorted(FLAGS))}")

    def take(self, key, remedy):
        if not self.keys.get(key):
            sys.exit(f"{self.place} has no {key}; add {remedy}")
        return self.keys[key]

    def constants(self, prefix):
        return [re.sub(r"\W", "_", f"{self.prefix or prefix}_{choice}").upper() for choice in self.choices]

    def declare(self, prefix):
        """Returns the declaration of the field. Its choices are an existing enum, or one within the struct."""
        kind = FIELDS[self.type]
        if self.type == "choice":
            kind = f"{self.enum} " if self.enum else f"enum {{ {', '.join(self.constants(prefix))} }} "
        return f"  // {self.summary}\n  {kind}{self.field};\n"

    def hold(self):
        """Returns assertions that the constants of an existing enum are in the order of the choices."""
        constants = self.constants("") if self.enum else []
        return "".join(f"G_STATIC_ASSERT ((gint){name} == {place});\n" for place, name in enumerate(constants))


def quote(text):
    return "NULL" if text is None else json.dumps(text, ensure_ascii=False)


def write_plugin(schema, parameters):
    plugin = schema["plugin"]
    for key in ("name", "kind", "version"):
        if not plugin.get(key):
            sys.exit(f"{schema.path}: [plugin] has no {key}; add {key}=")
    if plugin["kind"] not in KINDS:
        sys.exit(f"{schema.path}: [plugin] kind={plugin['kind']} is not a kind; give one of {', '.join(KINDS)}")
    kind = KINDS[plugin["kind"]]
    bindings = "".join(
        f"  {{ {quote(p.name)}, PLAIT_SETTING_{p.type.upper()}, G_STRUCT_OFFSET (Settings, {p.field}), "
        f"{quote(';'.join(p.choices) or None)} }},\n" for p in parameters)
    layers = '#include "layers/layers.h"\n' if any(p.enum for p in parameters) else ""
    return [f'#pragma once\n\n{layers}#include "interface/plugin.h"\n\n'
            f"typedef struct\n{{\n{''.join(p.declare(p.field) for p in parameters)}}} Settings;\n\n"
            f"static const PlaitBinding plait_plugin_bindings[] = {{\n{bindings}}};\n{''.join(p.hold() for p in parameters)}\n"
            f"#define PLAIT_PLUGIN_KIND PLAIT_PLUGIN_{kind.upper()}\n"
            f"#define PLAIT_PLUGIN_NAME {quote(plugin['name'])}\n"
            f"#define PLAIT_PLUGIN_VERSION {quote(plugin['version'])}\n"
            f"#define PLAIT_PLUGIN_TABLE Plait{kind}Table\n"]


def write_group(schema, parameters):
    """Returns the header, and the table that the host compiles. The includer of the header declares the types of enums."""
    group = schema["group"]
    words = re.split(r"\W", os.path.basename(schema.path)[:-len(".ini")])
    name, struct = "_".join(words), f"Plait{''.join(word.title() for word in words)}Settings"
    prefix = f"PLAIT_{name.upper()}_"
    details = "\n".join(text for key, text in group.items() if key.startswith("details."))
    bounds = "".join(f"#define {prefix}{p.field.upper()}_MAXIMUM {p.keys['maximum']}\n" for p in parameters if "maximum" in p.keys)
    header = (f"#pragma once\n\ntypedef struct\n{{\n{''.join(p.declare(prefix + p.field) for p in parameters)}}} {struct};\n\n"
              f"extern const PlaitSettingGroup plait_{name}_group;\n\n{bounds}")
    rows = ""
    for p in parameters:
        fields = {"standard": "default", "minimum": "minimum", "maximum": "maximum", "summary": "summary", "reference": "reference"}
        texts = "".join(f", .{field} = {quote(p.keys[key])}" for field, key in fields.items() if key in p.keys)
        texts += f", .choices = {quote(';'.join(p.choices))}" if p.choices else ""
        flags = " | ".join(f"PLAIT_SETTING_{flag.upper()}" for flag in p.flags) or "0"
        rows += (f"  {{ {{ .name = {quote(p.name)}, .type = PLAIT_SETTING_{p.type.upper()}, .flags = {flags}{texts} }},\n"
                 f"    G_STRUCT_OFFSET ({struct}, {p.field}) }},\n")
    table = (f"{''.join(p.hold() for p in parameters)}\nstatic const PlaitSettingDefinition definitions[] = {{\n{rows}}};\n\n"
             f"const PlaitSettingGroup plait_{name}_group = {{ {quote(group['name'])}, {quote(group['summary'])}, sizeof ({struct}),\n"
             f"  definitions, G_N_ELEMENTS (definitions), {quote(details or None)} }};\n")
    return [header, table]


def main():
    path, *outputs = sys.argv[1:]
    schema = configparser.ConfigParser(delimiters="=", comment_prefixes="#", default_section="", interpolation=None)
    schema.optionxform = str
    schema.path = path
    try:
        with open(path, encoding="utf-8") as file:
            schema.read_file(file)
    except (OSError, ValueError, configparser.Error) as error:
        sys.exit(f"{path}: {' '.join(str(error).split())}")
    kinds = {"plugin": write_plugin, "group": write_group}
    found = [kind for kind in kinds if kind in schema]
    if not found:
        sys.exit(f"{path}: has no group [plugin], so it is not the schema of a plugin")
    parameters = [Parameter(path, name[len(PREFIX):], schema[name]) for name in schema.sections() if name.startswith(PREFIX)]
    made = f"/* SPDX-License-Identifier: MIT */\n/* Made by settings.py of plait from {path}: change that file. */\n"
    texts = kinds[found[0]](schema, parameters)
    if found[0] == "group":
        includer = outputs.pop()
        texts[1] = f'#include "{includer}"\n#include "{os.path.basename(outputs[0])}"\n\n{texts[1]}'
    for output, text in zip(outputs, texts):
        with open(output, "w", encoding="utf-8") as file:
            file.write(made + text)


main()
