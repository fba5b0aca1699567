"""A second reading of what a litmus test does: an interpreter of single instructions, as slow as it is plain.

Every instruction is a step of its own, arithmetic, branches and fences too. A state is a memory, the registers and the
program counter of each thread, who waits and who has come to a barrier without waiting.
"""

from corpus.litmus.instructions import Assign, Barrier, Branch, Fence, Label, Load, Rmw, Store
from corpus.litmus.locations import Reg
from corpus.litmus.threads import unguarded
from oracle.executions.values import Address, calculate


class Interpreter:
    """Steps of a test, one instruction each. Locations must be global."""

    def __init__(self, test):
        self.threads = [list(unguarded(thread).instructions) for thread in test.threads]
        self.labels = [{ins.name: pc for pc, ins in enumerate(code) if isinstance(ins, Label)} for code in self.threads]
        self.places = [thread.place for thread in test.threads]
        memory = tuple(sorted((location.name, constant(location.initial)) for location in test.locations))
        registers = tuple(
            tuple(sorted((name, constant(value)) for name, value in thread.registers)) for thread in test.threads
        )
        positions = tuple((self.settled(tid, 0), registers[tid], None) for tid in range(len(self.threads)))
        self.start = (memory, positions, frozenset())

    def settled(self, tid, pc):
        """The counter past labels, which are no instructions."""
        code = self.threads[tid]
        while pc < len(code) and isinstance(code[pc], Label):
            pc += 1
        return pc

    def successors(self, state):
        """Pairs of a thread and a state. Where all that have not ended wait, each stays where it is."""
        running = [tid for tid, (pc, _, _) in enumerate(state[1]) if pc < len(self.threads[tid])]
        moves = [(tid, self.step(state, tid)) for tid in running if state[1][tid][2] is None]
        moves = [(tid, after) for tid, after in moves if after is not None]
        return moves or [(tid, state) for tid in running]

    def step(self, state, tid):
        memory, positions, arrived = state
        pc, registers, _ = positions[tid]
        ins, values, cells = self.threads[tid][pc], dict(registers), dict(memory)

        def value(operand):
            return values.get(operand.name, 0) if isinstance(operand, Reg) else constant(operand)

        goal = pc + 1
        match ins:
            case Fence():
                pass
            case Assign(target, "mov", (operand,)):
                values[target] = value(operand)
            case Assign(target, operation, (left, right)):
                values[target] = calculate(operation, value(left), value(right))
            case Branch(label, condition):
                if condition is None or calculate(condition.operation, value(condition.left), value(condition.right)):
                    goal = self.labels[tid][label]
            case Load(target, address):
                values[target] = cells[value(address).location]
            case Store(address, operand):
                cells[value(address).location] = value(operand)
            case Rmw(operation, target, address, operands):
                name = value(address).location
                old, given = cells[name], [value(operand) for operand in operands]
                match operation:
                    case "cas":
                        cells[name] = given[1] if old == given[0] else old
                    case "exch":
                        cells[name] = given[0]
                    case _:
                        cells[name] = calculate(operation, old, given[0])
                if target is not None:
                    values[target] = old
            case Barrier():
                return self.come(state, tid, ins, value)
        after = (self.settled(tid, goal), tuple(sorted(values.items())), None)
        return tuple(sorted(cells.items())), (*positions[:tid], after, *positions[tid + 1 :]), arrived

    def come(self, state, tid, ins, value):
        memory, positions, arrived = state
        group = self.places[tid][: ins.scope.value]
        name = (group, value(ins.name))
        awaited = [
            other
            for other, code in enumerate(self.threads)
            if self.places[other][: ins.scope.value] == group
            and any(isinstance(one, Barrier) and one.quorum is None and constant(one.name) == name[1] for one in code)
        ]
        quorum = None if ins.quorum is None else value(ins.quorum)
        name = (*name, quorum)
        come = [other for other, barrier in arrived if barrier == name]
        if tid in come:
            return None  # it waits until the barrier that it has come to is complete
        waiting = [other for other, (_, _, barrier) in enumerate(positions) if barrier == name]
        positions = list(positions)

        def release(other):
            pc, registers, _ = positions[other]
            positions[other] = (self.settled(other, pc + 1), registers, None)

        present = {tid, *waiting, *come}
        if len(present) == quorum or (quorum is None and present >= set(awaited)):
            for other in (*waiting, tid):
                release(other)
            arrived = frozenset(token for token in arrived if token[1] != name)
        elif ins.arrive:
            release(tid)
            arrived = arrived | {(tid, name)}
        else:
            pc, registers, _ = positions[tid]
            positions[tid] = (pc, registers, name)
        return memory, tuple(positions), arrived


def rows(test, limit=20000):
    """The rows of successors of a test, as ``oracle.progress.system`` has them; None where there are too many."""
    interpreter = Interpreter(test)
    index = {interpreter.start: 0}
    states, found = [interpreter.start], []
    for state in states:  # grows while we walk it
        row = [-1] * len(interpreter.threads)
        for tid, after in interpreter.successors(state):
            if after not in index:
                index[after] = len(states)
                states.append(after)
            row[tid] = index[after]
        if len(states) > limit:
            return None
        found.append(tuple(row))
    return found


def constant(operand):
    return operand if isinstance(operand, int) else Address(operand.name)
