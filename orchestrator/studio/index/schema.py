"""The tables of the index (controller)."""

FORMAT = 4
"""The version of the tables; a file with a different version is deleted and rebuilt."""

TABLES = """
CREATE TABLE runs (
    run INTEGER PRIMARY KEY,      -- see run_numbers
    id TEXT NOT NULL UNIQUE,
    stamp TEXT NOT NULL,          -- of its files: another one means that the run is read again
    state TEXT NOT NULL,          -- running, ended, interrupted, cut, unreadable
    problem TEXT NOT NULL,        -- why it cannot be read
    start REAL NOT NULL,
    end REAL,
    command TEXT NOT NULL,
    noop INTEGER NOT NULL,
    is_push INTEGER NOT NULL,     -- it changed hosts; only these count for the state of a host
    subject TEXT NOT NULL,        -- the manifest without its directory
    manifest TEXT NOT NULL,
    who TEXT NOT NULL,
    version TEXT NOT NULL,        -- the commit in short
    revision TEXT NOT NULL,       -- the commit
    hosts INTEGER NOT NULL,
    outcomes TEXT NOT NULL,       -- JSON: hosts by outcome
    statuses TEXT NOT NULL,       -- JSON: resources by status
    drifted INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    as_predicted INTEGER NOT NULL,
    verified TEXT NOT NULL,
    sections TEXT NOT NULL        -- JSON: see report.html.sections
);
CREATE TABLE hosts (
    host INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    sort TEXT NOT NULL,           -- the name with its numbers padded
    outcome TEXT NOT NULL DEFAULT '',
    last INTEGER,                 -- the run with that outcome
    since INTEGER,                -- the first run in a row with that outcome
    reached INTEGER NOT NULL DEFAULT 0,
    flips INTEGER NOT NULL DEFAULT 0,
    flaps_since INTEGER,          -- the run since which it flaps; NULL if it does not
    rank INTEGER NOT NULL DEFAULT 3,  -- see host_state
    listed INTEGER NOT NULL DEFAULT 0, -- the inventory has it
    plan INTEGER                  -- its last one
);
CREATE INDEX hosts_by_rank ON hosts (rank, sort);
CREATE TABLE host_runs (
    host INTEGER NOT NULL,
    run INTEGER NOT NULL,
    outcome TEXT NOT NULL,        -- see report.html.sections.outcome_of
    started INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    seconds REAL NOT NULL,
    message TEXT NOT NULL,
    unverified INTEGER,           -- failed checks of verify; NULL without verify
    groups TEXT NOT NULL,         -- the same for hosts with equal results
    rank INTEGER NOT NULL,
    plan INTEGER,
    names TEXT,                   -- JSON: what the run calls the host; NULL for its name
    places BLOB NOT NULL,         -- where its lines begin in events.jsonl
    results BLOB NOT NULL,        -- where its results begin in hosts.jsonl
    PRIMARY KEY (host, run)
) WITHOUT ROWID;
CREATE INDEX host_runs_by_run ON host_runs (run, rank, groups);
CREATE TABLE stale (              -- hosts whose state is to be derived anew
    host INTEGER PRIMARY KEY
);
CREATE TABLE resources (
    resource INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE plans (
    plan INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    resources TEXT NOT NULL,      -- JSON: numbers, in order
    edges TEXT NOT NULL           -- JSON: [resource, other resource, subscribe, require or apply]
);
CREATE TABLE plan_resources (
    resource INTEGER NOT NULL,
    plan INTEGER NOT NULL,
    PRIMARY KEY (resource, plan)
) WITHOUT ROWID;
CREATE TABLE texts (
    text INTEGER PRIMARY KEY,
    words TEXT NOT NULL UNIQUE
);
CREATE TABLE changes (            -- results other than "unchanged"
    host INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    run INTEGER NOT NULL,
    status TEXT NOT NULL,
    text INTEGER NOT NULL,
    drift TEXT NOT NULL,
    noop INTEGER NOT NULL,
    content TEXT NOT NULL,        -- the beginning of the hash of the new content, or absent
    PRIMARY KEY (host, resource, run)
) WITHOUT ROWID;
CREATE INDEX changes_by_resource ON changes (resource, host, run);
CREATE INDEX changes_by_run ON changes (run);
CREATE TABLE run_texts (
    run INTEGER NOT NULL,
    text INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    status TEXT NOT NULL,
    hosts INTEGER NOT NULL,
    PRIMARY KEY (run, text, resource, status)
) WITHOUT ROWID;
CREATE INDEX run_texts_by_text ON run_texts (text, run);
"""
