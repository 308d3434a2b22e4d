# Completion of plait for bash, made from the output of plait COMMAND --help. plait help --bash prints this script.
# SPDX-License-Identifier: MIT
# Prints lines KEY=VALUES; also the keys of the experiment file on the command line, if there is one.
_plait_keys ()
{
  local word
  for word in "${COMP_WORDS[@]}"; do
    [ "${word%.ini}" = "$word" ] || { plait inspect --keys "$word" 2> /dev/null && return; }
  done
  plait inspect --keys 2> /dev/null
}
# Prints the first word of each indented line: the commands of plait --help, the groups of plait inspect, the names of plugins.
_plait_list ()
{
  plait "$@" 2> /dev/null | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p'
}
_plait ()
{
  local current=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD option before setting='' equals='' key values
  local kind=argument help letter long value options='' words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_plait_list --help) help --help --version" -- "$current")
    return
  fi
  # An equals sign is a word of its own: --option=value, --source name=file, --set key=value.
  [ "$current" != = ] || { current='' at=$((at + 1)); }
  [ "${COMP_WORDS[at-1]}" != = ] || equals=yes at=$((at - 1))
  option=${COMP_WORDS[at-1]}
  if [ -n "$equals" ] && [ "$at" -ge 4 ]; then
    before=${COMP_WORDS[at-2]}
    [ "$before" != = ] || before=${COMP_WORDS[at-3]}
    case $before in --set | -s) setting=$option option=$before ;; esac
  fi
  if [ "${COMP_WORDS[1]}" = help ]; then
    words="$(_plait_list --help) --man --bash --zsh"
    kind=words
  else
    help=$(plait "${COMP_WORDS[1]}" --help 2> /dev/null)
    # Each line is an option: its letter or -, its name, the name of its value.
    while read -r letter long value; do
      options="$options $long"
      [ "$letter" = - ] || options="$options $letter"
      case $option in "$letter" | "$long") ;; *) continue ;; esac
      case $value in
        '') ;;
        *K=V*) kind=key ;;
        *FILE* | *.h5*) kind=file ;;
        *FOLDER*) kind=folder ;;
        *\|*) kind=words words=${value//|/ } words=${words% update-N} ;;
        *) kind=none ;;
      esac
    done < <(sed -nE 's/^  (-[a-z]), (--[^ =]+)=?([^ ]*).*/\1 \2 \3/p; t; s/^  (--[^ =]+)=?([^ ]*).*/- \1 \2/p' <<< "$help")
  fi
  if [ "$kind" = argument ] && [ "${current#-}" != "$current" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  if [ "$kind" = argument ]; then
    case ${help%%$'\n\n'*} in *GROUP*) words=$(_plait_list inspect) ;; esac
    case ${help%%$'\n\n'*} in *PLUGIN*) words="$words $(_plait_list plugins)" ;; esac
  fi
  if [ "$kind" = key ] && [ -n "$setting" ]; then
    kind=words
    while IFS== read -r key values; do
      [ "$key" != "$setting" ] || words=$values
    done < <(_plait_keys)
    [ "$words" != FILE ] || kind=file words=''
  fi
  case $kind in
    key)
      compopt -o nospace 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -S = -W "$(_plait_keys | sed 's/=.*//')" -- "$current") ;;
    words)
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    folder)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    argument | file)
      compopt -o filenames 2> /dev/null
      mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current") ;;
  esac
}
complete -F _plait plait
