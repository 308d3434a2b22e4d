#compdef plait
# SPDX-License-Identifier: MIT
# Completion of plait for zsh. Made by plait help --zsh.
_plait_keys ()
{
  local -a files lines values
  local key
  files=(${(M)words:#*.ini})
  lines=(${(f)"$(plait inspect --keys ${files[1]} 2> /dev/null || plait inspect --keys 2> /dev/null)"})
  if compset -P '*='; then
    key=${${IPREFIX%=}##*=}
    values=(${=${(M)lines:#$key=*}#*=})
    if [[ $values = FILE ]]; then
      _files
    else
      compadd -a values
    fi
  else
    compadd -S = -- ${lines%%=*}
  fi
}
_plait_plugins ()
{
  compadd -- ${(f)"$(plait plugins 2> /dev/null | sed -n 's/^  \([a-z][^ ]*\) .*/\1/p')"}
}
_plait_names ()
{
  _alternative 'plugins:plugin:_plait_plugins' 'files:file:_files'
}
_plait ()
{
  local -a commands
  commands=(
@NAMES@    'help:Show the help of a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
    help) _describe command commands ;;
@COMMANDS@  esac
}
_plait "$@"
