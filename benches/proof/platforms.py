"""The platforms: hosts, links and routes as SimGrid reads them, and the machines that viem maps to.

A node has two sockets of two cores; a host of SimGrid is a socket. Nodes are joined by

    fat-tree            leaf switches with as many spines as a leaf has nodes; the spine follows from the destination
    fat-tree-4to1       the same with a quarter of the spines
    torus               three dimensions, routed dimension by dimension, the shorter way round
    dragonfly           groups of routers, all joined inside; one link between any two groups; minimal routes; viem sees
                        its links, Scotch a tree
    racks               switches of racks, each with one link of twice the speed to a switch above

Every link has one direction. All routes are written in full, so nothing depends on the simulator's own routing.
"""

import re

SOCKETS, CORES = 2, 2
PER_NODE = SOCKETS * CORES
# Bandwidth in bytes per second and latency in seconds.
IN_SOCKET, BETWEEN_SOCKETS, CABLE, UPLINK = (20e9, 2e-7), (40e9, 4e-7), (12.5e9, 5e-7), (25e9, 5e-7)
# By number of nodes: nodes per leaf switch, nodes per rack, torus, and groups, routers and nodes of a dragonfly.
SHAPES = {16: (4, 8, (4, 2, 2), (4, 2, 2)), 64: (8, 16, (4, 4, 4), (8, 4, 2)), 256: (16, 32, (8, 8, 4), (16, 8, 2))}


# What viem is told that links of a dragonfly cost. A link inside a group costs less than half of one between groups: otherwise a path over
# a third group would not be longer.
COSTS = {"core": 1, "socket": 2, "node": 12, "router": 5, "group": 12}
# Cycles of each link, in proportion to the time of a byte. A core has half of what two cores of a socket exchange. On machines whose
# links are not listed, they are costs, too.
TIMES = {"core": 8, "socket": 4, "node": 12, "cable": 12, "router": 12, "group": 12, "up": 6}


class Platform:
    """Nodes with a network. `route` lists the links between two nodes, `cables` has the pairs of routers with the kind of their link,
    and `router_of` is that of a node. `arities` are those of the tree that viem sees outside of nodes, unless they are a torus, or
    `is_listed`: then it sees all links."""

    def __init__(self, name, nodes, arities, route, cables, router_of, torus=None, is_listed=False):
        self.name, self.nodes, self.route = name, nodes, route
        self.cables, self.router_of, self.is_listed = cables, router_of, is_listed
        self.ranks = nodes * PER_NODE
        self.arities, self.torus = [CORES, SOCKETS, *arities], torus
        self.distances = []
        tree = ":".join(map(str, self.arities))
        self.spec = f"torus:{'x'.join(map(str, torus))}/{tree}" if torus else f"tree:{tree}"
        self.routes = {(a, b): self.path(a, b) for a in range(nodes * SOCKETS) for b in range(nodes * SOCKETS)}

    def path(self, a, b):
        """The links from socket a to socket b, as (name, (bandwidth, latency))."""
        here, there = a // SOCKETS, b // SOCKETS
        if a == b:
            return [(f"in{a}", IN_SOCKET)]
        if here == there:
            return [(f"across{a}", BETWEEN_SOCKETS)]
        return [(f"out{here}", CABLE), *self.route(here, there), (f"to{there}", CABLE)]

    def distance(self, p, q):
        """The distance that viem uses between two PEs."""
        if self.is_listed and p // PER_NODE != q // PER_NODE:
            path = self.routes[p // CORES, q // CORES]
            kinds = (re.match("[a-z]+", name)[0] for name, _ in path)
            return 2 * (COSTS["core"] + COSTS["socket"]) + sum(COSTS.get(kind, COSTS["node"]) for kind in kinds)
        if self.is_listed:
            return 0 if p == q else 2 * COSTS["core"] + 2 * COSTS["socket"] * (p // CORES != q // CORES)
        inside = 0
        for arity, distance in zip(self.arities, self.distances):
            inside = distance if p != q else inside
            p, q = p // arity, q // arity
        return hops(self.torus, p, q) * self.distances[-1] if self.torus and p != q else inside

    def cost(self, graph, pe_of):
        """J by the definition."""
        return sum(weight * self.distance(pe_of[u], pe_of[v]) for u, row in enumerate(graph) for v, weight in row.items())

    def busiest(self, graph, pe_of):
        """The greatest time in which a link carries its traffic at full speed. An edge is half each way."""
        seconds = {}
        for u, row in enumerate(graph):
            for v, weight in row.items():
                for name, (bandwidth, _) in self.routes[pe_of[u] // CORES, pe_of[v] // CORES]:
                    if not name.startswith("in"):
                        seconds[name] = seconds.get(name, 0) + weight / 2 / bandwidth
        return max(seconds.values(), default=0)

    def xml(self):
        """The text of the platform file."""
        links = dict(link for path in self.routes.values() for link in path)
        lines = ["<?xml version='1.0'?>", '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                 '<platform version="4.1">', '<zone id="all" routing="Full">']
        lines += [f'<host id="{host(a)}" speed="1Gf" core="{CORES}"/>' for a in range(self.nodes * SOCKETS)]
        for name, (bandwidth, latency) in sorted(links.items()):
            policy = ' sharing_policy="FATPIPE"' if name.startswith("in") else ""
            lines.append(f'<link id="{name}" bandwidth="{bandwidth:.0f}Bps" latency="{latency:.3e}s"{policy}/>')
        for (a, b), path in self.routes.items():
            used = "".join(f'<link_ctn id="{name}"/>' for name, _ in path)
            lines.append(f'<route src="{host(a)}" dst="{host(b)}" symmetrical="NO">{used}</route>')
        return "\n".join([*lines, "</zone></platform>", ""])

    def network(self, costs):
        """The text of the machine of viem if all links are listed: cores, sockets, nodes and routers. `costs` are those of a link by its
        kind."""
        sockets, nodes = (self.ranks, self.ranks // CORES), (self.ranks + self.ranks // CORES, self.nodes)
        routers = nodes[0] + nodes[1]
        edges = [(core, sockets[0] + core // CORES, costs["core"]) for core in range(self.ranks)]
        edges += [(sockets[0] + socket, nodes[0] + socket // SOCKETS, costs["socket"]) for socket in range(sockets[1])]
        edges += [(nodes[0] + node, routers + self.router_of(node), costs["node"]) for node in range(self.nodes)]
        edges += [(routers + a, routers + b, costs[kind]) for a, b, kind in self.cables]
        rows = [[] for _ in range(1 + max(max(a, b) for a, b, _ in edges))]
        for a, b, cost in edges:
            rows[a].append((b, cost))
            rows[b].append((a, cost))
        lines = [f"{len(rows)} {len(edges)} 011"]
        for vertex, row in enumerate(rows):
            lines.append(" ".join(map(str, [int(vertex < self.ranks), *(x for b, cost in sorted(row) for x in (b + 1, cost))])))
        return "\n".join([*lines, ""])

    def hosts(self, pe_of):
        """The text of the host file: line i is the host of rank i."""
        return "".join(f"{host(pe // CORES)}\n" for pe in pe_of)


def host(socket):
    return f"n{socket // SOCKETS}s{socket % SOCKETS}"


def place(torus, node):
    """Coordinates of a node; the first varies fastest."""
    at = []
    for size in torus:
        at.append(node % size)
        node //= size
    return at


def hops(torus, a, b):
    steps = (abs(x - y) for x, y in zip(place(torus, a), place(torus, b)))
    return sum(min(step, size - step) for step, size in zip(steps, torus))


def fat_tree(name, nodes, leaf, spines):
    def route(a, b):
        spine = b % spines
        up, down = (f"leaf{a // leaf}-spine{spine}", CABLE), (f"spine{spine}-leaf{b // leaf}", CABLE)
        return [up, down] if a // leaf != b // leaf else []
    cables = [(a, nodes // leaf + spine, "cable") for a in range(nodes // leaf) for spine in range(spines)]
    return Platform(name, nodes, [leaf, nodes // leaf], route, cables, lambda node: node // leaf)


def racks(name, nodes, rack):
    def route(a, b):
        return [(f"up{a // rack}", UPLINK), (f"down{b // rack}", UPLINK)] if a // rack != b // rack else []
    cables = [(a, nodes // rack, "up") for a in range(nodes // rack)]
    return Platform(name, nodes, [rack, nodes // rack], route, cables, lambda node: node // rack)


def torus(name, nodes, sizes):
    def route(a, b):
        links, at, end, stride = [], a, place(sizes, b), 1
        for dimension, size in enumerate(sizes):
            x = at // stride % size
            ahead = (end[dimension] - x) % size
            step = 1 if 2 * ahead <= size else -1
            while x != end[dimension]:
                links.append((f"router{at}{'+' if step > 0 else '-'}{dimension}", CABLE))
                at += ((x + step) % size - x) * stride
                x = (x + step) % size
            stride *= size
        return links
    pairs = [(a, b) for a in range(nodes) for b in range(a) if hops(sizes, a, b) == 1]
    return Platform(name, nodes, [], route, [(*pair, "cable") for pair in pairs], lambda node: node, sizes)


def dragonfly(name, nodes, groups, routers, per_router):
    def gate(group, other):
        """The router of a group whose link leads to the other one."""
        return group * routers + (other - group - 1) % groups % routers

    def local(a, b):
        return [(f"router{a}-router{b}", CABLE)] if a != b else []

    def route(a, b):
        here, there = a // per_router, b // per_router
        if here // routers == there // routers:
            return local(here, there)
        source, target = here // routers, there // routers
        out, into = gate(source, target), gate(target, source)
        return [*local(here, out), (f"group{source}-group{target}", CABLE), *local(into, there)]
    inside = [(first + a, first + b, "router") for first in range(0, groups * routers, routers) for a in range(routers) for b in range(a)]
    between = [(gate(a, b), gate(b, a), "group") for a in range(groups) for b in range(a)]
    return Platform(name, nodes, [per_router, routers, groups], route, inside + between, lambda node: node // per_router, None, True)


def platform(name, ranks, distances):
    """The platform of that name with so many cores: 64, 256 or 1024; of the distances as many are used as there are levels."""
    nodes = ranks // PER_NODE
    leaf, rack, sizes, fly = SHAPES[nodes]
    makers = {"fat-tree": lambda: fat_tree(name, nodes, leaf, leaf),
              "fat-tree-4to1": lambda: fat_tree(name, nodes, leaf, leaf // 4),
              "torus": lambda: torus(name, nodes, sizes), "dragonfly": lambda: dragonfly(name, nodes, *fly),
              "racks": lambda: racks(name, nodes, rack)}
    made = makers[name]()
    made.distances = distances[: len(made.arities) + bool(made.torus)]
    return made


NAMES = ["fat-tree", "fat-tree-4to1", "torus", "dragonfly", "racks"]
