// The figures below the rounds: one drawing for each, from its table.

const DRAWINGS = {};

function startFigures() {
  for (const figure of document.querySelectorAll("figure[data-table]")) {
    const name = figure.dataset.figure;
    const table = PAGE.figures[name];
    startTable(figure, table);
    const drawing = DRAWINGS[name];
    if (drawing) addChart(figure.querySelector(".chart"), figure.dataset.title, (view) => drawing(view, table));
  }
}
