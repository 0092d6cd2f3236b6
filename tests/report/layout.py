"""Faults of a drawn figure that a reader would see."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.figure_files import on_canvas
from polarbear.report.figures.style import Style


def look_at(name: str, context: ReportContext, **options: object) -> list[str]:
    """Draw a figure, and find its faults."""
    figure = FIGURES[name]
    style = Style.model_validate({"dpi": 100, **options})
    with on_canvas(style) as canvas:
        figure.draw(canvas, figure.data(context), context, style)
        return faults(canvas)


def faults(canvas: Canvas) -> list[str]:
    """Cut text, labels that cover each other, axes with nothing in them."""
    canvas.draw_without_rendering()
    page = Bbox([[-1, -1], [canvas.bbox.x1 + 1, canvas.bbox.y1 + 1]])
    faults_found = []
    for text in _texts(canvas):
        box = text.get_window_extent()
        corners = (box.x0, box.y0), (box.x1, box.y1)
        if not all(page.contains(*corner) for corner in corners):
            faults_found.append(f"cut: {text.get_text()!r}")
    for axes in canvas.axes:
        is_second_scale = not axes.patch.get_visible()
        if not axes.has_data() and not is_second_scale:
            faults_found.append("empty axes")
        for labels in (_shown(axes.texts), *_ticks(axes)):
            for first, second in _covering([label.get_window_extent() for label in labels]):
                faults_found.append(
                    f"overlap: {labels[first].get_text()!r} and {labels[second].get_text()!r}"
                )
    return faults_found


def _covering(boxes: list[Bbox]) -> list[list[int]]:
    """Pairs of boxes that share more than the blank rim that letters have."""
    corners = np.array([box.extents for box in boxes]).reshape(-1, 4)
    low = corners[:, :2]
    high = corners[:, 2:]
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    height = (high - low)[:, None, 1]
    covered = (shared[..., 0] > 1) & (shared[..., 1] > 0.25 * height)
    return np.argwhere(np.triu(covered, 1)).tolist()


def _texts(canvas: Canvas) -> list[Text]:
    texts = [*canvas.texts, *(text for legend in canvas.legends for text in legend.get_texts())]
    texts += [text for text in (canvas._supxlabel, canvas._suptitle) if text is not None]
    for axes in canvas.axes:
        texts += [*axes.texts, axes.title, axes._right_title, axes._left_title]
        texts += [axes.xaxis.label, axes.yaxis.label, *(t for side in _ticks(axes) for t in side)]
    return _shown(texts)


def _ticks(axes: Axes) -> tuple[list[Text], list[Text]]:
    """Tick labels that lie within the view, of both axes."""
    sides = []
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        low, high = sorted(limits)
        ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
        sides.append(_shown([text for tick in ticks for text in (tick.label1, tick.label2)]))
    return sides[0], sides[1]


def _shown(texts: list[Text]) -> list[Text]:
    return [text for text in texts if text.get_visible() and text.get_text().strip()]
