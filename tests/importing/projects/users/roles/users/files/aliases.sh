alias ll='ls -l'
alias la='ls -la'
