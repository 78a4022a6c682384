"""Rewrites the tree of an expression with ccm's names (controller)."""

import re
from typing import Any

from jinja2 import nodes

from orchestrator.ansible.jinja import fact_names, task_scoped_variables
from orchestrator.ansible.jinja.call_translation import (
    as_boolean,
    computed,
    constants,
    extracted,
    filter_of,
    has_key,
    look_up,
    test_of,
)
from orchestrator.ansible.jinja.fact_names import fact_of, is_there, may_be_empty, other_host
from orchestrator.ansible.jinja.filter_substitutes import filtered
from orchestrator.ansible.jinja.parsing import (
    STATEMENTS,
    expression,
    members,
    names_in,
    path_of,
    tree_of,
)
from orchestrator.ansible.jinja.possible_values import sample_of
from orchestrator.ansible.jinja.printing import (
    formatted,
    listed,
    note_differences,
    operand_tree,
)
from orchestrator.ansible.jinja.result_members import (
    command_answer,
    found_answer,
    page_answer,
    results,
    stat_answer,
)
from orchestrator.ansible.jinja.scope import Register, Scope
from orchestrator.ansible.jinja.unparse import literal, unparse
from orchestrator.ansible.problems import NotConvertible
from orchestrator.language.ansible_names import EXPRESSIONS

_GLOBALS = frozenset(
    ["range", "dict", "namespace", "cycler", "joiner", "loop", "caller", "varargs"]
)
_MAGIC = {
    **EXPRESSIONS,
    "ansible_managed": "Data.ansible_managed",
    "ansible_check_mode": "false",
    "ansible_connection": "'ssh'",
}
_UNKNOWN = frozenset(
    [
        "ansible_play_hosts",
        "ansible_play_batch",
        "ansible_play_hosts_all",
        "play_hosts",
        "ansible_play_name",
        "ansible_run_tags",
        "ansible_skip_tags",
        "ansible_loop",
        "ansible_parent_role_names",
        "ansible_role_names",
        "inventory_dir",
        "inventory_file",
        "playbook_dir",
        "role_path",
        "omit",
        "ansible_search_path",
        "ansible_become",
        "ansible_failed_result",
        "ansible_failed_task",
        "ansible_local",
        "ansible_config_file",
    ]
)
_ALL_HOSTS = "also hosts that are not selected, not reached, or failed"
_SUCCESS = {
    "changed": "changed", "change": "changed", "failed": "failed", "failure": "failed",
    "succeeded": "succeeded", "success": "succeeded", "successful": "succeeded",
    "skipped": "skipped", "skip": "skipped",
}  # fmt: skip


def translate(node: nodes.Expr, scope: Scope) -> nodes.Expr:
    """The expression in ccm's syntax. NotConvertible."""
    found: nodes.Expr = _Translator(scope).of(node)
    return found


class _Translator:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def of(self, node: Any) -> Any:
        """The ccm expression for a node; NotConvertible."""
        if isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem)):
            return self._path(node)
        if isinstance(node, nodes.Compare):
            return self._compare(node)
        if isinstance(node, nodes.Test):
            return self._test(node)
        if isinstance(node, nodes.Filter):
            return self.of(formatted(node)) if node.name == "format" else self._filter(node)
        if isinstance(node, nodes.Call):
            return self._call(node)
        if isinstance(node, nodes.Add):
            return nodes.Add(listed(self.of(node.left)), listed(self.of(node.right)))
        if isinstance(node, nodes.Concat):
            return nodes.Concat([operand_tree(a, self.of(a), self.scope) for a in node.nodes])
        return self._children(node)

    def _children(self, node: Any) -> Any:
        changes = {}
        for name, value in node.iter_fields():
            if isinstance(value, nodes.Node):
                changes[name] = self.of(value)
            elif isinstance(value, list):
                changes[name] = [
                    self.of(one) if isinstance(one, nodes.Node) else one for one in value
                ]
            else:
                changes[name] = value
        return type(node)(*(changes[name] for name in node.fields), lineno=node.lineno)

    def _part(self, node: Any) -> Any:
        """A member of an expression; that of a filter is one of a list."""
        found = self._children(node)
        found.node = listed(found.node)
        return found

    # --- names

    def _path(self, node: Any) -> Any:
        path = path_of(node)
        if path is None:
            base, keys = other_host(node)
            if base is not None:
                return self._hostvars(base, keys)
            return self._computed(node) or self._package(node) or self._part(node)
        name, keys = path
        if name == "ansible_facts" and keys and isinstance(keys[0], str):
            first = keys[0] if keys[0].startswith("ansible_") else f"ansible_{keys[0]}"
            name, keys = first, keys[1:]
        elif name == "vars" and keys and isinstance(keys[0], str):
            name, keys = keys[0], keys[1:]
        elif name == "hostvars":
            return self._hostvars(nodes.Const(keys[0] if keys else ""), keys[1:])
        return self._name(name, keys)

    def _name(self, name: str, keys: list[Any]) -> Any:
        scope = self.scope
        known = scope.registers.get(name)
        if known is not None and known.element is not None and keys:
            return self._registered(known, keys)
        late = self._late(name, keys)
        if late is not None:
            return late
        if name in scope.renames:
            return members(expression(scope.renames[name]), keys)
        if name in scope.locals:
            return members(nodes.Name(name, "load"), keys)
        if name in scope.task_vars:
            return self._task_variable(name, keys)
        if name in scope.registers:
            return self._registered(scope.registers[name], keys)
        if name in _GLOBALS:
            return members(nodes.Name(name, "load"), keys)
        return self._global(name, keys)

    def _package(self, node: Any) -> Any:
        """``ansible_facts.packages[NAME]`` as an answer of the host; None for other expressions."""
        if not isinstance(node, nodes.Getitem) or isinstance(node.arg, nodes.Slice):
            return None
        path = path_of(node.node)
        if fact_names.kind_of(path) != "packages":
            return None
        if "packages" not in self.scope.uses.listed or self.scope.no_data:
            return None
        return self._versions(self.of(node.arg))

    def _versions(self, name: nodes.Expr) -> nodes.Expr:
        """The list of the installed versions of a package. NotConvertible."""
        written = unparse(name)
        if "item" in names_in(name) or "Asked." in written:
            raise NotConvertible("packages whose names are loop elements or lookup answers")
        text = name.value if isinstance(name, nodes.Const) else "{{ " + written + " }}"
        question = {"package": str(text)}
        ask = self.scope.uses.name_of(f"package_{fact_names.word_of(written)}", question)
        self.scope.uses.ask(ask, question, self.scope.uses.listed["packages"])
        version = members(nodes.Name("Asked", "load"), [ask, "version"])
        pairs = [nodes.Pair(nodes.Const("name"), name), nodes.Pair(nodes.Const("version"), version)]
        return nodes.List([nodes.Dict(pairs)])

    def _computed(self, node: Any) -> Any:
        """``vars['a_' ~ b]`` and similar expressions for this host; None for other expressions."""
        if not isinstance(node, nodes.Getitem) or isinstance(node.arg, (nodes.Const, nodes.Slice)):
            return None
        path = path_of(node.node)
        if path not in (("vars", []), ("hostvars", ["inventory_hostname"])):
            return None
        return computed(node.arg, self.of, self.scope)

    def _task_variable(self, name: str, keys: list[Any]) -> Any:
        inner = {key: one for key, one in self.scope.task_vars.items() if key != name}
        scope = self.scope.having(task_vars=inner)
        return self._in_place(self.scope.task_vars[name], keys, scope)

    def _late(self, name: str, keys: list[Any]) -> Any:
        """The definition of a variable that reads names of this task; None for other names."""
        scope = self.scope
        nearer = name in scope.locals or name in scope.task_vars or name in scope.registers
        if nearer or not scope.renames.get(name, "Data.").startswith("Data."):
            return None
        for value in task_scoped_variables.definition(name, scope):
            scope.uses.in_place.add(name)
            others = {key: one for key, one in scope.late.items() if key != name}
            return self._in_place(value, keys, scope.having(late=others))
        return None

    def _in_place(self, value: Any, keys: list[Any], scope: Scope) -> Any:
        """The value of a definition in this task, or its member ``keys``."""
        keys = list(keys)
        while keys and has_key(value, keys[0]):
            value = value[keys.pop(0)]
        return members(translate(tree_of(value), scope), keys)

    def _global(self, name: str, keys: list[Any]) -> Any:
        scope = self.scope
        if name in scope.values:
            return self._data(name, keys)
        if name in _MAGIC:
            if name == "ansible_managed":
                scope.uses.data.add(name)
            return members(expression(_MAGIC[name]), keys)
        if name in scope.play_hosts:
            scope.uses.uncertainties.append(_ALL_HOSTS)
            return members(expression(scope.play_hosts[name]), keys)
        if name in _UNKNOWN:
            raise NotConvertible(f"ccm has no equivalent of {name}")
        if name in ("role_name", "ansible_role_name"):
            return nodes.Const(scope.role)
        if name.startswith("ansible_"):
            return self._fact(name, keys)
        if keys and name in scope.uses.listed:
            return self._fact(f"ansible_{name}", keys)
        if name.startswith("getent_") and (name[7:], "*") in scope.uses.entries:
            return self._fact(f"ansible_{name}", keys)
        return self._data(name, keys)

    def _data(self, name: str, keys: list[Any]) -> Any:
        if self.scope.no_data:
            raise NotConvertible(f"the order of a hierarchy cannot read the variable {name}")
        if name in self.scope.uses.broken:
            raise NotConvertible(self.scope.uses.broken[name])
        if name in self.scope.uses.uncertain:
            self.scope.uses.uncertainties.append(self.scope.uses.uncertain[name])
        self.scope.uses.data.add(name)
        return members(nodes.Name("Data", "load"), [name, *keys])

    def _of_getent(self, database: str, keys: list[Any]) -> Any:
        if len(keys) == 2 and isinstance(keys[0], str) and isinstance(keys[1], int):
            return self._entry(database, keys[0], keys[1])
        return members(self._entries(database), keys)

    def _fact(self, name: str, keys: list[Any]) -> Any:
        words = (name[8:], *(str(one) for one in keys))
        converted = fact_names.of_service(words, self.scope)
        if converted is not None:
            return converted
        if words[0] == "packages" and keys and "packages" in self.scope.uses.listed:
            return members(self._versions(nodes.Const(str(keys[0]))), keys[1:])
        if words[0].startswith("getent_"):
            return self._of_getent(words[0][7:], keys)
        if words[0] in fact_names.TABLES:
            fact, table = fact_names.TABLES[words[0]]
            self._note_uncertainty(words[:1])
            if self.scope.no_data:
                return expression(f"{table!r}.get({fact}, {fact})")
            self.scope.uses.tables.add(words[0])
            return members(expression(f"Data.ansible_{words[0]}"), keys)
        for size in range(len(words), 0, -1):
            rest = list(keys[size - 1 :])
            if words[:size] in fact_names.SIMPLE:
                self._note_uncertainty(words[:size])
                return members(expression(fact_names.SIMPLE[words[:size]]), rest)
            found = fact_names.look_up(words[:size])
            if found is not None:
                if self.scope.no_data:
                    raise NotConvertible("a hierarchy order that depends on a lookup")
                ask, question, text = found
                self.scope.uses.asks[ask] = dict(question)
                if ask in fact_names.UNCERTAIN_LOOK_UPS:
                    self.scope.uses.uncertainties.append(fact_names.UNCERTAIN_LOOK_UPS[ask])
                return members(expression(text), rest)
        text = fact_names.of_interface(words[:3])
        if text:
            return members(expression(text), list(keys[2:]))
        raise NotConvertible(f"ccm has no fact like {'.'.join([name, *words[1:]])}")

    def _note_uncertainty(self, words: tuple[str, ...]) -> None:
        uses, name = self.scope.uses, f"ansible_{words[0]}"
        if name in uses.uncertain:
            uses.uncertainties.append(uses.uncertain[name])
        if words in fact_names.UNCERTAIN_FACTS:
            self.scope.uses.uncertainties.append(fact_names.UNCERTAIN_FACTS[words])

    def _entries(self, database: str) -> Any:
        """All entries of ``getent``, as a map of lists."""
        uses = self.scope.uses
        if (database, "*") not in uses.entries or self.scope.no_data:
            raise NotConvertible(f"the entries of {database}")
        name = f"all_{database}"
        question: dict[str, Any] = {"command": f"getent {database}"}
        if database == "shadow":
            question["sensitive"] = True
        uses.ask(name, question, uses.entries[database, "*"][1])
        pair = "{{ line.split(':')[0] | to_json }}: {{ line.split(':')[1:] | to_json }}"
        body = f"{{ {{% for line in Asked.{name}.stdout.splitlines() %}}{pair}, {{% endfor %}} }}"
        return expression(f"template({literal(body)}) | from_yaml")

    def _entry(self, database: str, key: str, position: Any) -> Any:
        """A field of a ``getent`` entry; the first field is the key itself."""
        uses = self.scope.uses
        if (database, "*") in uses.entries and re.fullmatch(r"[\w.@-]+", key):
            word = re.sub(r"[^a-z0-9]+", "_", f"{database}_{key}".lower())
            uses.entries.setdefault((database, key), (word, uses.entries[database, "*"][1]))
        if (database, key) not in uses.entries or not isinstance(position, int):
            raise NotConvertible(f"the entry {key} of {database}")
        name, certain = uses.entries[database, key]
        uses.ask(name, {"command": f"getent {database} {key}"}, certain)
        field = position + 1
        return expression(f"Asked.{name}.stdout.strip().split(':')[{field}]")

    def _hostvars(self, host: Any, keys: list[Any]) -> Any:
        if isinstance(host, nodes.Name) and host.name == "inventory_hostname" and keys:
            return self._path(members(nodes.Name(str(keys[0]), "load"), keys[1:]))
        if not keys:
            raise NotConvertible("all hostvars of a host at once")
        if keys[0] == "ansible_facts":
            keys = [f"ansible_{keys[1]}", *keys[2:]] if len(keys) > 1 else keys
        base = nodes.Getitem(nodes.Name("Hosts", "load"), self.of(host), "load")
        if keys[0] in ("inventory_hostname", "ansible_host"):
            word = "name" if keys[0] == "inventory_hostname" else "address"
            return members(nodes.Getattr(base, word, "load"), keys[1:])
        words = tuple(str(one).removeprefix("ansible_") for one in keys)
        fact = fact_names.of_other_host(words, base)
        if fact is not None and str(keys[0]).startswith("ansible_"):
            self._note_uncertainty(words[: fact[1]])
            return members(fact[0], keys[fact[1] :])
        self.scope.fleet.share(str(keys[0]))
        return members(nodes.Getattr(base, "vars", "load"), keys)

    # --- results of tasks

    def _registered(self, register: Register, keys: list[Any]) -> Any:
        if len(keys) == 1 and keys[0] in register.members:
            return self._of_arguments(register, keys[0])
        if not keys or register.reason:
            raise NotConvertible(_unreadable(register, keys))
        if register.element is not None and keys[0] == "item":
            return self._of_element(register, keys[1:])
        if register.kind in ("loop", "found"):
            return results(register, keys, self.scope, self._registered)
        answer = nodes.Getattr(nodes.Name("Asked", "load"), register.name, "load")
        found = None
        if register.kind == "uri":
            found = page_answer(answer, keys)
        elif register.kind == "find":
            found = found_answer(register.name, keys)
        elif keys == ["path"] and "path" in register.look_up:
            return nodes.Const(register.look_up["path"])
        if register.kind == "command":
            found = command_answer(answer, keys)
        elif register.kind == "stat" and keys[0] == "stat" and len(keys) == 2:
            found = stat_answer(answer, str(keys[1]))
        elif register.kind == "file" and keys == ["content"]:
            raise NotConvertible("content of slurp without b64decode")
        if found is None:
            raise NotConvertible(
                f"ccm has no equivalent of {'.'.join(str(one) for one in keys)} in the result of "
                f"'{register.task_name}'"
            )
        self._ask(register)
        return found

    def _of_element(self, register: Register, keys: list[Any]) -> Any:
        """The element of the loop that one result is about."""
        rest = {k: one for k, one in self.scope.registers.items() if one is not register}
        return members(translate(register.element, self.scope.having(registers=rest)), keys)

    def _of_arguments(self, register: Register, key: str) -> Any:
        """A member of a result that the arguments of its task determine."""
        value = register.members[key]
        if key == "group" and value == register.members["name"]:
            text = f"this assumes that the group of '{register.task_name}' has the user's name"
            self.scope.uses.uncertainties.append(text)
        return self.of(tree_of(value))

    def _ask(self, register: Register) -> None:
        if self.scope.no_data:
            raise NotConvertible("a hierarchy order that depends on the result of a task")
        if any(_ELEMENT.search(str(one)) for one in register.look_up.values()):
            raise NotConvertible(f"an answer for each element of a list ('{register.task_name}')")
        self.scope.uses.ask(register.name, register.look_up, register.certain)

    # --- operators, filters, tests and calls

    def _compare(self, node: nodes.Compare) -> Any:
        if len(node.ops) == 1 and node.ops[0].op in ("in", "notin"):
            found = fact_names.is_among(node.expr, node.ops[0].op, node.ops[0].expr, self.scope)
            if found is not None:
                return found
        if len(node.ops) == 1:
            found = fact_names.compared(node.expr, node.ops[0].op, node.ops[0].expr, self.scope)
            if found is not None:
                return found
            found = self._compared_fact(node.expr, node.ops[0].op, node.ops[0].expr)
            if found is None and node.ops[0].op in ("eq", "ne"):
                found = self._compared_fact(node.ops[0].expr, node.ops[0].op, node.expr)
            if found is not None:
                return found
        return self._children(node)

    def _compared_fact(self, left: Any, operator: str, right: Any) -> Any:
        """``os_family == 'Debian'`` with ccm's values; None for other comparisons."""
        lower = isinstance(left, nodes.Filter) and left.name == "lower" and left.node is not None
        path = path_of(left.node if lower else left)
        name = fact_of(path) if path is not None else ""
        values = constants(right)
        if name not in fact_names.TABLES or values is None or path is None:
            return None
        if any(
            path[0] in one for one in (self.scope.locals, self.scope.values, self.scope.renames)
        ):
            return None
        if operator not in ("eq", "ne", "in", "notin"):
            return None
        if (operator in ("in", "notin")) != isinstance(right, (nodes.List, nodes.Tuple)):
            return None
        fact, table = fact_names.TABLES[name]
        self._note_uncertainty((name,))
        own = [
            key
            for value in values
            for key, other in table.items()
            if (other.lower() if lower else other) == value
        ]
        negative = operator in ("ne", "notin")
        if not own:
            return nodes.Const(negative)
        if len(own) == 1:
            operand = nodes.Operand("ne" if negative else "eq", nodes.Const(own[0]))
        else:
            items: list[nodes.Expr] = [nodes.Const(one) for one in dict.fromkeys(own)]
            operand = nodes.Operand("notin" if negative else "in", nodes.List(items))
        return nodes.Compare(expression(fact), [operand])

    def _test(self, node: nodes.Test) -> Any:
        path = path_of(node.node)
        if path is not None and path[0] in self.scope.registers and not path[1]:
            register = self.scope.registers[path[0]]
            if node.name in ("defined", "undefined"):
                return nodes.Const(node.name == "defined")
            word = _SUCCESS.get(node.name)
            if word in ("failed", "succeeded") and register.kind == "command":
                self._ask(register)
                code = members(nodes.Name("Asked", "load"), [register.name, "exit_code"])
                operator = "ne" if word == "failed" else "eq"
                return nodes.Compare(code, [nodes.Operand(operator, nodes.Const(0))])
            plain = register.kind == "change" and not register.tolerant
            if word in ("failed", "succeeded") and plain:
                return nodes.Const(word == "succeeded")  # a failure would have ended the run
            raise NotConvertible(
                f"ccm has no equivalent of '{node.name}' in the result of '{register.task_name}'"
            )
        if node.name in ("defined", "undefined"):
            found = fact_names.is_defined(node.node, node.name == "defined", self.scope)
            if found is not None:
                return found
        if node.name in ("defined", "undefined") and path is not None and self._is_optional(path):
            test = nodes.Test(self.of(node.node), "none", [], [], None, None)
            return nodes.Not(test) if node.name == "defined" else test
        if node.name in ("defined", "undefined") and may_be_empty(node.node, self.scope):
            return is_there(self.of(node.node), node.name == "defined")
        if node.name.rsplit(".", 1)[-1] in ("version", "version_compare"):
            node = nodes.Test(
                self._as_text(node.node), node.name, [self._as_text(one) for one in node.args],
                node.kwargs, node.dyn_args, node.dyn_kwargs,
            )  # fmt: skip
        return test_of(node, self.of)

    def _as_text(self, node: nodes.Expr) -> nodes.Expr:
        """An expression that may be a number as text, which versions are in ccm."""
        kinds = sample_of(node, self.scope).all_kinds()
        return filtered(node, "string") if "number" in kinds else node

    def _is_optional(self, path: tuple[str, list[Any]]) -> bool:
        """Whether a name is a fact that is none if nothing sets it."""
        scope, renamed = self.scope, self.scope.renames.get(path[0], "").removeprefix("Data.")
        return not path[1] and (renamed in scope.uses.optional or path[0] in scope.optional)

    def _filter(self, node: nodes.Filter) -> Any:
        if (hosts := extracted(node, self.of, self._hostvars)) is not None:
            return hosts
        note_differences(node, self.scope)
        inner, arguments = node.node, node.args
        path = path_of(inner) if inner is not None else None
        if path is not None and path[0] in self.scope.registers and node.name in _SUCCESS:
            return self.of(nodes.Test(inner, node.name, [], [], None, None))
        if node.name in ("default", "d") and arguments:
            given = path_of(arguments[0])
            if given == ("omit", []):
                raise NotConvertible("it uses default(omit) within an expression")
            if inner is not None and self._is_known_fact(inner):
                return self.of(inner)
            if inner is not None and may_be_empty(inner, self.scope):
                return filtered(self.of(inner), "default", self.of(arguments[0]), True)
            if path is not None and self._is_optional(path):
                there = nodes.Not(nodes.Test(self.of(inner), "none", [], [], None, None))
                return nodes.CondExpr(there, self.of(inner), self.of(arguments[0]))
        if isinstance(inner, (nodes.Getattr, nodes.Getitem)) and node.name == "b64decode":
            path = path_of(inner)
            register = self.scope.registers.get(path[0]) if path else None
            if path and register and register.kind == "file" and path[1] == ["content"]:
                self._ask(register)
                return members(nodes.Name("Asked", "load"), [register.name, "content"])
        if node.name.rsplit(".", 1)[-1] == "bool" and inner is not None:
            return as_boolean(inner, self.of, self.scope)
        return self._with_input(node, filter_of(node, self.of, whole=self.scope.whole))

    def _with_input(self, node: nodes.Filter, found: Any) -> Any:
        """A translated filter with a list, or with text, as its input where Ansible has that."""
        if not isinstance(found, nodes.Filter) or found.node is None or node.node is None:
            return found
        if node.name in _OF_LISTS:
            found.node = listed(found.node)
        elif node.name == "quote":
            found.node = operand_tree(node.node, found.node, self.scope)
        return found

    def _is_known_fact(self, node: Any) -> bool:
        """Whether every host has this fact, so that its default is never used."""
        path = path_of(node)
        if path is None or path[0] in self.scope.locals or path[0] in self.scope.values:
            return False
        name = fact_of(path)
        return name in ("processor_vcpus", "processor_nproc", "memtotal_mb", "architecture")

    def _statements(self, text: str) -> Any:
        """Return a string with statements as the value of ``template()``."""
        if self.scope.no_data or self.scope.statements is None:
            raise NotConvertible("statements inside text")
        body = nodes.Const(self.scope.statements(text, self.scope.having(whole=True)))
        return nodes.Call(nodes.Name("template", "load"), [body], [], None, None)

    def _call(self, node: nodes.Call) -> Any:
        name = node.node.name if isinstance(node.node, nodes.Name) else ""
        if name == STATEMENTS and isinstance(node.args[0], nodes.Const):
            return self._statements(str(node.args[0].value))
        if name in ("lookup", "query", "q") and name not in self.scope.locals:
            return look_up(node, self.of, self.scope)
        if name and name not in self.scope.locals and name not in _GLOBALS:
            raise NotConvertible(f"ccm has no function {name}()")
        if isinstance(node.node, nodes.Getattr):
            inner, method = node.node.node, node.node.attr
            if method in _METHODS and not node.args:
                other = nodes.Getattr(inner, _METHODS[method], "load")
                return self.of(nodes.Call(other, [], [], None, None))
            if method == "copy" and not node.args:
                return self.of(inner)  # a value never changes
            if method in _CHANGING:
                raise NotConvertible(f"the method {method}(), which changes a value")
            if method == "has_key" and len(node.args) == 1:
                return self.of(nodes.Compare(node.args[0], [nodes.Operand("in", inner)]))
        return self._children(node)


_ELEMENT = re.compile(r"\{\{[^}]*\bitem\b")

_OF_LISTS = frozenset(["length", "count", "last", "random"])
_CHANGING = frozenset(
    ["append", "extend", "update", "insert", "pop", "popitem", "remove", "clear", "setdefault"]
)
_METHODS = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values"}
"""Methods of maps that only Python 2 has."""


def _unreadable(register: Register, keys: list[Any]) -> str:
    """The part of a task's result that ccm cannot read."""
    if keys[:1] == ["changed"]:
        return register.reason
    read = f"{'.'.join(map(str, keys))} in the" if keys else "the whole"
    return f"{read} result of '{register.task_name}'"
