"""A picture of simulated time over J, both relative to the block order, on logarithmic axes."""
import math

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 900, 560, 70, 20, 250, 50
COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#8d5fb8", "#c77d00", "#00868b", "#7a4e2d", "#5b5b5b"]
TICKS = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100]


class Axis:
    """A logarithmic axis from `start` to `end` on the paper."""

    def __init__(self, values, start, end):
        low, high = math.log(min(values)) - 0.05, math.log(max(values)) + 0.05
        self.place = lambda value: start + (math.log(value) - low) / (high - low) * (end - start)
        self.ticks = [tick for tick in TICKS if low <= math.log(tick) <= high]


def svg(series):
    """The picture of pairs (title, results). A result is (mapping, J, busiest link, seconds); the first is the block order."""
    points = [(title, name, cost / max(results[0][1], 1), seconds / results[0][3])
              for title, results in series for name, cost, _, seconds in results]
    x = Axis([point[2] for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([point[3] for point in points], HEIGHT - BOTTOM, TOP)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
             ' font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>', *frame(x, y)]
    colours = {title: COLOURS[index % len(COLOURS)] for index, (title, _) in enumerate(series)}
    for title, name, cost, seconds in points:
        size = {"ours": 6, "block": 6}.get(name, 3)
        fill = "none" if name == "block" else colours[title]
        lines.append(f'<circle cx="{x.place(cost):.1f}" cy="{y.place(seconds):.1f}" r="{size}" fill="{fill}"'
                     f' stroke="{colours[title]}" fill-opacity="0.7"><title>{title}: {name}</title></circle>')
    return "\n".join([*lines, *legend(colours), "</svg>", ""])


def frame(x, y):
    """Axes with their ticks and titles."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = []
    for tick in x.ticks:
        at = x.place(tick)
        lines += [f'<path d="M{at:.1f} {TOP}V{bottom}" stroke="#e4e4e4"/>',
                  f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{tick:g}</text>']
    for tick in y.ticks:
        at = y.place(tick)
        lines += [f'<path d="M{LEFT} {at:.1f}H{right}" stroke="#e4e4e4"/>',
                  f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>']
    middle = (TOP + bottom) / 2
    return [*lines, f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#555"/>',
            f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">J over that of the block order</text>',
            f'<text x="20" y="{middle}" text-anchor="middle" transform="rotate(-90 20 {middle})">'
            'simulated time over that of the block order</text>']


def legend(colours):
    left = WIDTH - RIGHT + 20
    lines = []
    for index, (title, colour) in enumerate(colours.items()):
        lines += [f'<circle cx="{left}" cy="{TOP + 12 + 22 * index}" r="5" fill="{colour}"/>',
                  f'<text x="{left + 14}" y="{TOP + 16 + 22 * index}">{title}</text>']
    bottom = TOP + 40 + 22 * len(colours)
    return [*lines, f'<text x="{left}" y="{bottom}">large and filled: ours</text>',
            f'<text x="{left}" y="{bottom + 20}">large and empty: block</text>',
            f'<text x="{left}" y="{bottom + 40}">small: other mappings</text>']
