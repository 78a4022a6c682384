# The application's repository.
mkdir -p /srv/git/shop && cd /srv/git/shop
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
git init -q -b main
git config user.email lab@example.com
git config user.name lab
printf 'import http.server, os\nclass H(http.server.SimpleHTTPRequestHandler):\n    pass\nhttp.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), H).serve_forever()\n' > app.py
echo 'shop 1.0' > index.html
git add . && git commit -q -m one && git tag v1.0
echo 'shop 1.1' > index.html
git commit -q -a -m two && git tag v1.1
git config --system --add safe.directory '*'
