"""The completion scripts of the shells (controller): each calls ``ccm completion words``."""

# The output of ccm is plain text: a host may be named $(reboot), and no shell may evaluate that.
_BASH = r"""
# ccm completion for Bash 4.0 or later; does not require bash-completion
_ccm() {
    local word candidate known= line="${COMP_LINE:0:COMP_POINT}"
    local -a words
    read -r -a words <<<"$line"
    case "$line" in *[[:space:]]) words+=("") ;; esac
    local last=$((${#words[@]} - 1))
    word="${words[last]}"
    case "$word" in
        [\"\']*) word="${word:1}" ;;
        *) word="${word//\\/}"; known="${word%"${word##*[:=&]}"}" ;; # readline ends words there
    esac
    words[last]="$word"
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        if [ "$candidate" = :files ]; then
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${word#"$known"}")
        else
            COMPREPLY+=("${candidate#"$known"}")
        fi
    done < <("${words[0]}" completion words -- "${words[@]:1}" 2>/dev/null)
}
complete -o filenames -F _ccm ccm
"""
_ZSH = r"""
#compdef ccm

_ccm() {
    local line word files
    local -a found
    found=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
    local -a lines=("${(@f)$(ccm completion words -- "${found[@]}" 2>/dev/null)}")
    found=()
    for line in "${lines[@]}"; do
        word="${line%%$'\t'*}"
        case "$word" in
            '') ;;
            :files) files=yes ;;
            *) found+=("${${word//\\/\\\\}//:/\\:}:${${line#"$word"}#$'\t'}") ;;
        esac
    done
    (( ! $#found )) || _describe -t words ccm found
    if [ -n "$files" ]; then
        case "$PREFIX" in --*=*) compset -P '*=' ;; esac
        _files
    fi
}

# autoloaded from fpath, it completes at once; sourced, it only registers itself
if [ "$funcstack[1]" = _ccm ]; then _ccm "$@"; else compdef _ccm ccm; fi
"""
_FISH = r"""
# ccm completion for fish 3.0 or later
function __ccm_words
    set -l words (commandline -opc)
    set -l word (commandline -ct | string trim -l -c '"\'')
    for line in (ccm completion words -- $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case ':files'
                set -l option (string match -r -- '^--[^=]*=' (commandline -ct))
                set -l begun (string replace -- "$option" '' (commandline -ct))
                __fish_complete_path "$begun" | string replace -r -- '^' "$option"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c ccm -f -a '(__ccm_words)'
"""
SCRIPTS = {"bash": _BASH.lstrip(), "zsh": _ZSH.lstrip(), "fish": _FISH.lstrip()}
