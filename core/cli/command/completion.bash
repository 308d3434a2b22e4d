# Completion of plait for bash. Made by plait help --bash.
# SPDX-License-Identifier: MIT
# Lines KEY=VALUES, of the experiment file on the line if there is one.
_plait_keys ()
{
  local word
  for word in "${COMP_WORDS[@]}"; do
    [ "${word%.ini}" = "$word" ] || { plait inspect --keys "$word" 2> /dev/null && return; }
  done
  plait inspect --keys 2> /dev/null
}
_plait ()
{
  local current=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD option before setting='' equals='' key values
  local kind=argument options='' words='' names=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '@NAMES@help --help --version' -- "$current")
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
  case ${COMP_WORDS[1]} in
    help)
      words='@NAMES@--man --bash --zsh'
      kind=words
      ;;
@COMMANDS@  esac
  if [ "$kind" = argument ] && [ "${current#-}" != "$current" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  [ -z "$names" ] || words="$words $(plait plugins 2> /dev/null | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p')"
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
