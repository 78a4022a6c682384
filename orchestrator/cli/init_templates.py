"""The files of a new project (controller)."""

PROJECT_SCHEMA = "# yaml-language-server: $schema=.schemas/project.schema.json\n"
PROJECT = """\
# Options of all commands in this project. Paths are relative to this directory.
# Flags override the environment, which overrides this file; see ccm config.

# The inventory: a file, a program that prints one, or a list of these.
{inventory}

# Data that overrides the data of manifests: a file, or a list of files.
# hiera: production.yaml

# The directory of data files, one for each entry of a hierarchy.
{data}

# Maximum age of the stored facts of other hosts.
# facts_max_age: 1h

# The store of service registrations: a file, or an address without credentials.
# registration: registry.json

# Hosts that may serve data over https without a digest.
# source_hosts: [data.example.net]

# The address of the NATS server for kv:// and kvGet(), without credentials.
# nats: nats://nats.example.net:4222

# The keys of encrypted files and values, for Ansible Vault and age.
# secrets:
#   vault: {{password_file: ~/.vault-password}}

# Maximum number of hosts in parallel.
# forks: 50

# Number of runs to keep, across all projects.
# keep: 200

# Where runs are shared: a directory, or a studio with its token file.
# history: https://studio.example.net
# history_token: {{file: ~/.ccm-token}}

# Rollouts by name: ccm push --rollout careful.
# rollouts:
#   careful: {{waves: "1,10%,100%", max_fail: 0}}
"""

HOSTS_SCHEMA = "# yaml-language-server: $schema=.schemas/inventory.schema.json\n"
HOSTS = """\
# ccm inventory lists these hosts.

{defaults}hosts:
{hosts}
  # web1: {{address: 192.0.2.10, user: deploy, vars: {{role: web}}}}
"""

ORDER = ["default", "role:{{ Facts.role | default('none') }}", "host:{{ Host.name }}"]
SITE = """\
# yaml-language-server: $schema=.schemas/manifest.schema.json
# Preview with ccm push --noop site.yaml, apply with ccm push site.yaml.

hierarchy:
  order:
ORDER
  merge: deep

ccm:
  resources:
    # A block in the message of the day. Other lines of the file are kept.
    - edit:
        - /etc/motd:
            block: |
              {{ Host.name }} is managed with ccm. {{ Data.motd_contact }}
            create: true

    # The packages in data/default.yaml and in the data of the role and the host.
    - package:
        - "{{ item }}":
            foreach: Data.base_packages
            ensure: present
"""

DATA = """\
# Values for all hosts. data/role/web.yaml is for hosts with vars: {role: web}
# in the inventory, data/host/web1.yaml for the host web1.

motd_contact: "Questions: ask the owner of this repository"
base_packages: []  # such as [less, rsync]
"""

IGNORED = """\
# Plans, and the files that CI makes from them
*.plan
*.plan.*
comment.md
plan.env
plan.id

# Secrets and environments of this machine
.env
.venv/
"""

HOOKS = """\
# Run 'pre-commit install' once to run these before each commit.
repos:
  - repo: local
    hooks:
      - id: ccm-fmt
        name: ccm fmt
        entry: ccm fmt
        language: system
        pass_filenames: false
        types: [yaml]
      - id: ccm-validate
        name: ccm validate
        entry: ccm validate site.yaml
        language: system
        pass_filenames: false
        always_run: true
      - id: ccm-secrets
        name: ccm secrets check
        entry: ccm secrets check
        language: system
"""

_SET_UP = """\
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {python-version: "3.12"}
      - run: pip install ccm-push
"""

_LOG_IN = """\
      - name: Log in
        env:
          CCM_SSH_KEY: ${{ secrets.CCM_SSH_KEY }}
        run: |
          install -d -m 700 ~/.ssh
          (umask 077; printf '%s\\n' "$CCM_SSH_KEY" > ~/.ssh/id_ed25519)
"""

GITHUB = """\
# Checks each pull request and shows its preview there. After the merge, a person
# approves the plan, and ccm pushes exactly this plan.
#
# Set up once:
#   - a secret CCM_SSH_KEY with a private key that may log in to the hosts
#   - an environment "production" with required reviewers and the same secret
#   - known_hosts in this repository: ccm hosts trust -i hosts.yaml
name: ccm

on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: read

env:
  CCM_ACTOR: ${{ github.actor }}
  NO_COLOR: "1"

jobs:
  validate:
    runs-on: ubuntu-latest
    steps:
      SET_UP
      - run: ccm fmt --check
      - run: ccm validate -i hosts.yaml site.yaml

  preview:
    if: github.event_name == 'pull_request'
    needs: validate
    runs-on: ubuntu-latest
    permissions:
      contents: read
      pull-requests: write
    steps:
      SET_UP
      LOG_IN
      - name: Preview
        run: |
          ccm plan site.yaml -o change.plan
          ccm plan show change.plan --markdown - > comment.md
      - name: Comment
        env:
          GH_TOKEN: ${{ github.token }}
          PULL_REQUEST: ${{ github.event.pull_request.number }}
        run: gh pr comment "$PULL_REQUEST" --body-file comment.md

  plan:
    if: github.event_name == 'push'
    needs: validate
    runs-on: ubuntu-latest
    outputs:
      id: ${{ steps.plan.outputs.id }}
    steps:
      SET_UP
      LOG_IN
      - name: Plan
        id: plan
        run: |
          ccm plan -q site.yaml -o change.plan > plan.id
          echo "id=$(cat plan.id)" >> "$GITHUB_OUTPUT"
          ccm plan show change.plan --markdown - >> "$GITHUB_STEP_SUMMARY"

  push:
    needs: plan
    runs-on: ubuntu-latest
    environment: production
    concurrency: ccm-push
    steps:
      SET_UP
      LOG_IN
      - name: Push
        env:
          PLAN: ${{ needs.plan.outputs.id }}
        run: ccm push --expect "$PLAN" site.yaml
""".replace("      SET_UP\n", _SET_UP).replace("      LOG_IN\n", _LOG_IN)

GITLAB = """\
# Checks each merge request and shows its preview there. After the merge, a person
# starts the job "push", and ccm pushes exactly the plan of the job "plan".
#
# Set up once, as CI/CD variables:
#   - CCM_SSH_KEY: a private key that may log in to the hosts (type: file)
#   - CCM_COMMENT_TOKEN: a project access token with the scope "api" (masked)
# and known_hosts in this repository: ccm hosts trust -i hosts.yaml
# Protect the environment "production" to choose who may push.

stages: [validate, plan, push]

workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH

default:
  image: python:3.12
  before_script:
    - pip install ccm-push
    - export CCM_ACTOR="$GITLAB_USER_LOGIN" NO_COLOR=1

.login: &login
  - install -d -m 700 ~/.ssh
  - install -m 600 "$CCM_SSH_KEY" ~/.ssh/id_ed25519

validate:
  stage: validate
  script:
    - ccm fmt --check
    - ccm validate -i hosts.yaml site.yaml

preview:
  stage: plan
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
  script:
    - *login
    - ccm plan site.yaml -o change.plan
    - ccm plan show change.plan --markdown - > comment.md
    - >-
      curl --fail --silent --show-error --header "PRIVATE-TOKEN: $CCM_COMMENT_TOKEN"
      --data-urlencode "body@comment.md"
      "$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"

plan:
  stage: plan
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - *login
    - ccm plan -q site.yaml -o change.plan > plan.id
    - echo "CCM_PLAN=$(cat plan.id)" > plan.env
    - ccm plan show change.plan
  artifacts:
    reports:
      dotenv: plan.env

push:
  stage: push
  needs: [plan]
  rules:
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
      when: manual
  environment: production
  resource_group: production
  script:
    - *login
    - ccm push --expect "$CCM_PLAN" site.yaml
"""
