#compdef plait
# SPDX-License-Identifier: MIT
# Completion of plait for zsh, made from the output of plait COMMAND --help. plait help --zsh prints this script.
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
  setopt local_options extended_glob
  local -a commands options match
  local help line text name value repeats arguments=_files
  commands=(${(f)"$(plait --help 2> /dev/null | sed -n 's/^  \([a-z][a-z]*\) *\(.*\)/\1:\2/p')"} 'help:Show the help of a command')
  if (( CURRENT == 2 )) || [[ $words[2] = help ]]; then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  help=$(plait $words[1] --help 2> /dev/null)
  [[ ${help%%$'\n\n'*} != *PLUGIN* ]] || arguments=_plait_names
  for line in ${(f)help}; do
    [[ $line =~ '^  (-([a-z]), )?--([^ =]+)(=([^ ]+))?( +(.*))?$' ]] || continue
    # _arguments interprets brackets and colons.
    text="[${match[7]//(#m)[\[\]:\\]/\\$MATCH}]" name=${match[5]//(#m)[\[\]:\\]/\\$MATCH} repeats='*'
    case $match[5] in
      '') value='' repeats='' ;;
      *K=V*) value=:$name:_plait_keys ;;
      *FILE* | *.h5*) value=:$name:_files ;;
      *FOLDER*) value=":$name:_files -/" ;;
      *\|*) value=":value:(${${match[5]//|/ }% update-N})" ;;
      *) value=":$name: " ;;
    esac
    options+=("$repeats--$match[3]${value:+=}$text$value")
    [[ -z $match[2] ]] || options+=("$repeats-$match[2]${value:++}$text$value")
  done
  _arguments -S $options "*:argument:$arguments"
}
_plait "$@"
