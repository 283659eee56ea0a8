"""A picture of simulated time over J, both relative to the block order, on logarithmic axes: a panel for each platform and
number of ranks, a colour for each program."""
import math

PANEL, GAP, LEFT, TOP, BOTTOM = 250, 16, 70, 40, 70
COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#8d5fb8", "#c77d00", "#00868b", "#7a4e2d", "#5b5b5b",
           "#e07bb0", "#9aa21a", "#2f3e8f", "#17becf"]
TICKS = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100]


class Axis:
    """A logarithmic axis; `place` is where a value is, from 0 to PANEL."""

    def __init__(self, values):
        low, high = math.log(min(values)) - 0.1, math.log(max(values)) + 0.1
        self.place = lambda value: (math.log(value) - low) / (high - low) * PANEL
        ticks = [tick for tick in TICKS if low <= math.log(tick) <= high]
        self.ticks = ticks[:: 2 if len(ticks) > 7 else 1]


def svg(pairs):
    """The picture of measured pairs. A result is (mapping, J, busiest link, seconds); the first is that of the block order."""
    columns = list(dict.fromkeys(pair.platform.name for pair in pairs))
    rows = sorted({pair.ranks for pair in pairs})
    programs = list(dict.fromkeys(pair.program for pair in pairs))
    colours = {program: COLOURS[index % len(COLOURS)] for index, program in enumerate(programs)}
    points = {pair: relative(pair.scatter) for pair in pairs}
    x = Axis([cost for found in points.values() for _, cost, _ in found])
    y = Axis([seconds for found in points.values() for _, _, seconds in found])
    width, height = LEFT + len(columns) * (PANEL + GAP), TOP + len(rows) * (PANEL + TOP) + BOTTOM
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
             ' font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>']
    for row, ranks in enumerate(rows):
        for column, name in enumerate(columns):
            inside = [pair for pair in pairs if (pair.platform.name, pair.ranks) == (name, ranks)]
            lines.append(f'<g transform="translate({LEFT + column * (PANEL + GAP)} {TOP + row * (PANEL + TOP)})">')
            lines += [*frame(x, y, f"{name}, {ranks} ranks", column == 0), *dots(x, y, inside, points, colours), "</g>"]
    return "\n".join([*lines, *legend(colours, width, height), "</svg>", ""])


def relative(results):
    """Mappings with J and time over those of the block order."""
    _, cost, *_, seconds = results[0]
    return [(name, max(of, 1) / max(cost, 1), time / seconds) for name, of, *_, time in results]


def dots(x, y, pairs, points, colours):
    for pair in pairs:
        yield f'<g fill="{colours[pair.program]}" stroke="{colours[pair.program]}" fill-opacity="0.6">'
        for name, cost, seconds in points[pair]:
            radius, fill = 6 if name in ("ours", "block") else 3, ' fill="white"' if name == "block" else ""
            yield (f'<circle cx="{x.place(cost):.1f}" cy="{PANEL - y.place(seconds):.1f}" r="{radius}"{fill}>'
                   f'<title>{pair.program}: {name}</title></circle>')
        yield "</g>"


def frame(x, y, title, has_numbers):
    """The lines and numbers of a panel."""
    for tick in x.ticks:
        at = x.place(tick)
        yield f'<path d="M{at:.1f} 0V{PANEL}" stroke="#e4e4e4"/>'
        yield f'<text x="{at:.1f}" y="{PANEL + 16}" text-anchor="middle">{tick:g}</text>'
    for tick in y.ticks:
        at = PANEL - y.place(tick)
        yield f'<path d="M0 {at:.1f}H{PANEL}" stroke="#e4e4e4"/>'
        if has_numbers:
            yield f'<text x="-8" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>'
    yield f'<rect width="{PANEL}" height="{PANEL}" fill="none" stroke="#555"/>'
    yield f'<text x="{PANEL / 2}" y="-8" text-anchor="middle">{title}</text>'


def legend(colours, width, height):
    """The titles of the axes, and what colours and sizes mean."""
    middle = (TOP + height - BOTTOM) / 2
    yield f'<text x="{width / 2}" y="{height - BOTTOM + 4}" text-anchor="middle">J over that of the block order</text>'
    yield (f'<text x="20" y="{middle}" text-anchor="middle" transform="rotate(-90 20 {middle})">'
           'time over that of the block order</text>')
    for index, (program, colour) in enumerate(colours.items()):
        left = LEFT + 110 * index
        yield f'<circle cx="{left}" cy="{height - 44}" r="5" fill="{colour}"/>'
        yield f'<text x="{left + 10}" y="{height - 40}">{program}</text>'
    yield f'<text x="{LEFT}" y="{height - 14}">Large: ours; large and white: block; small: other mappings.</text>'
