"""Builds BoundKernels tersely for tests: one call an instruction, locations and symbols by name.

b = BoundBuilder(ports=6)
b.op([0b11], "xmm0", xmm0=4, xmm1=4)      # xmm0 = f(xmm0, xmm1), one µop on port 0 or 1
b.load("rax", base="rdi", displacement=8) # rax = [rdi + 8]
b.store("rax", base="rsi")                # [rsi] = rax
b.add("rdi", 8)                           # rdi += 8
analysis = analyze(b.build())
"""

from __future__ import annotations

from typing import Any

from incc.models.binding import bound as m

LOAD_LATENCY = 5
FORWARD_CYCLES = 4


class BoundBuilder:
    """Collects instructions; `build` hands out the arrays. Core parameters are Skylake-like unless given."""

    def __init__(self, ports: int = 8, resources: int = 0, **parameters: Any) -> None:
        k = self.k = m.BoundKernel()
        for name in m.KERNEL_ARRAYS:
            setattr(k, name, [])
        for name in m.KERNEL_STARTS:
            setattr(k, name, [0])
        for name, value in m.KERNEL_DEFAULTS.items():
            setattr(k, name, value)
        k.pipeline = None
        k.n_ports = ports
        k.port_names = [str(p) for p in range(ports)] + [f"{r}R" for r in range(resources)]
        k.issue_width = k.retire_width = 4
        k.rob, k.rs, k.load_buffer, k.store_buffer = 224, 97, 72, 56
        k.forward_class, k.forward_cycles = [0], [FORWARD_CYCLES]
        k.port_delay_from, k.port_delay_to, k.port_delay_cycles = [0b11], [0b110], [1]
        k.is_loop = True
        for name, value in parameters.items():
            setattr(k, name, value)
        self.locations: dict[str, int] = {}
        self.symbols: dict[str, int] = {}

    def location(self, name: str) -> int:
        return self.locations.setdefault(name, len(self.locations))

    # --- parts of an instruction, for what the shorthands below do not cover ---

    def uop(self, mask: int, cycles: int = 1, kind: int = m.UOP_COMPUTE) -> None:
        self.k.uop_ports.append(mask)
        self.k.uop_cycles.append(cycles)
        self.k.uop_kind.append(kind)

    def value(
        self,
        kind: int,
        outputs: list[str],
        inputs: list[tuple[str | int, int]],
        memory: dict[str, Any] | None = None,
    ) -> int:
        """A value of the current instruction; inputs are (location name or number of a loaded value, latency)."""
        k = self.k
        k.value_kind.append(kind)
        k.output_location += [self.location(name) for name in outputs]
        k.output_start.append(len(k.output_location))
        for source, latency in inputs:
            k.input_kind.append(m.INPUT_LOCATION if isinstance(source, str) else m.INPUT_VALUE)
            k.input_id.append(self.location(source) if isinstance(source, str) else source)
            k.input_latency.append(latency)
            k.input_rule.append(-1)
            k.input_early.append(0)
        k.input_start.append(len(k.input_id))
        if memory is None:
            k.memory_of_value.append(-1)
        else:
            k.memory_of_value.append(len(k.memory_base))
            base, index, symbol = memory.get("base"), memory.get("index"), memory.get("symbol")
            k.memory_base.append(-1 if base is None else self.location(base))
            k.memory_index.append(-1 if index is None else self.location(index))
            k.memory_scale.append(memory.get("scale", 1))
            k.memory_displacement.append(memory.get("displacement", 0))
            k.memory_size.append(memory.get("size", 8))
            k.memory_symbol.append(-1 if symbol is None else self.symbols.setdefault(symbol, len(self.symbols)))
            k.memory_class.append(memory.get("memory_class", 0))
            k.memory_elements.append(memory.get("elements", 1))
            k.memory_partial.append(int(memory.get("partial", False)))
        return len(k.value_kind) - 1

    def affine(self, target: str, constant: int, **terms: int) -> None:
        """Target "" is the memory that the instruction loads and stores."""
        k = self.k
        k.affine_target.append(self.location(target) if target else -1)
        k.affine_constant.append(constant)
        for name, coefficient in terms.items():
            k.affine_term_location.append(self.location(name))
            k.affine_term_coefficient.append(coefficient)
        k.affine_term_start.append(len(k.affine_term_location))

    def entry(self, location: str, constant: int, **terms: int) -> None:
        """What the location holds at first: `terms` are unknowns, their names numbers behind a letter, as "u0"."""
        k = self.k
        k.entry_location.append(self.location(location))
        k.entry_constant.append(constant)
        for name, coefficient in terms.items():
            k.entry_term_unknown.append(int(name[1:]))
            k.entry_term_coefficient.append(coefficient)
        k.entry_term_start.append(len(k.entry_term_unknown))

    def end(self, slots: int = 1, flags: int = 0, load_latency: int = 0) -> None:
        """Ends the current instruction."""
        k = self.k
        k.uop_start.append(len(k.uop_ports))
        k.value_start.append(len(k.value_kind))
        k.affine_start.append(len(k.affine_target))
        k.instruction_flags.append(flags)
        k.issue_slots.append(slots)
        k.retire_slots.append(slots)
        k.latency.append(0)
        k.load_latency.append(load_latency)
        k.forward_group.append(-1)
        k.forward_delay.append(0)
        k.delays_from.append(0)
        k.delays_to.append(0)
        k.early_for.append(0)

    # --- whole instructions ---

    def op(self, masks: list[int], target: str | None = None, slots: int | None = None, **inputs: int) -> None:
        """target = f(inputs), inputs with their latencies; one µop for each mask."""
        for mask in masks:
            self.uop(mask)
        if target is not None:
            self.value(m.VALUE_REGISTER, [target], list(inputs.items()))
        self.end(len(masks) if slots is None else slots)

    def add(self, target: str, constant: int, mask: int = 1, latency: int = 1) -> None:
        """target += constant."""
        self.uop(mask)
        self.value(m.VALUE_REGISTER, [target], [(target, latency)])
        self.affine(target, constant, **{target: 1})
        self.end()

    def move(self, target: str, source: str) -> None:
        """target = source, done by the renamer."""
        self.value(m.VALUE_REGISTER, [target], [(source, 0)])
        self.affine(target, 0, **{source: 1})
        self.end(flags=m.NO_EXECUTION | m.ELIMINATED)

    def _address(self, memory: dict[str, Any], latency: int) -> list[tuple[str | int, int]]:
        return [(memory[r], latency) for r in ("base", "index") if memory.get(r) is not None]

    def load(self, target: str | None, mask: int = 0b1100, latency: int = LOAD_LATENCY, **memory: Any) -> None:
        """target = memory; memory as base, index, scale, displacement, size, symbol, memory_class, elements."""
        self.uop(mask, kind=m.UOP_LOAD)
        value = self.value(m.VALUE_LOAD, [], self._address(memory, latency), memory)
        if target is not None:
            self.value(m.VALUE_REGISTER, [target], [(value, 0)])
        self.end(flags=m.IS_LOAD, load_latency=latency)

    def load_op(self, masks: list[int], target: str, load_latency: int, memory: dict[str, Any], latency: int) -> None:
        """target = f(target, memory), `latency` cycles from either."""
        self.uop(0b1100, kind=m.UOP_LOAD)
        for mask in masks:
            self.uop(mask)
        value = self.value(m.VALUE_LOAD, [], self._address(memory, load_latency), memory)
        self.value(m.VALUE_REGISTER, [target], [(target, latency), (value, latency)])
        self.end(slots=len(masks), flags=m.IS_LOAD, load_latency=load_latency)

    def store(self, data: str | None, address_mask: int = 0b1100, data_mask: int = 0b10000, **memory: Any) -> None:
        """memory = data (None: a constant)."""
        self.uop(address_mask, kind=m.UOP_STORE_ADDRESS)
        self.uop(data_mask, kind=m.UOP_STORE_DATA)
        inputs: list[tuple[str | int, int]] = [] if data is None else [(data, 0)]
        self.value(m.VALUE_STORE, [], inputs + self._address(memory, 0), memory)
        self.end(flags=m.IS_STORE)

    def add_to_memory(self, source: str | int, latency: int = 1, **memory: Any) -> None:
        """memory += source, a register or a constant."""
        self.uop(0b1100, kind=m.UOP_LOAD)
        self.uop(0b11)
        self.uop(0b1100, kind=m.UOP_STORE_ADDRESS)
        self.uop(0b10000, kind=m.UOP_STORE_DATA)
        value = self.value(m.VALUE_LOAD, [], self._address(memory, LOAD_LATENCY), memory)
        inputs: list[tuple[str | int, int]] = [(value, latency)]
        if isinstance(source, str):
            inputs.insert(0, (source, latency))
            self.affine("", 0, **{source: 1})
        else:
            self.affine("", source)
        self.value(m.VALUE_STORE, [], inputs + self._address(memory, 0), memory)
        self.end(slots=2, flags=m.IS_LOAD | m.IS_STORE, load_latency=LOAD_LATENCY)

    def build(self) -> m.BoundKernel:
        self.k.location_names = list(self.locations)
        return self.k
