// Panels in which each algorithm has a row: its name on the left, a number on the right.

/** The axis of the rows: it shows nothing by itself. */
export function rowsAxis(id, domain, range) {
  return {
    domain,
    anchor: `x${id}`,
    range,
    showticklabels: false,
    showgrid: false,
    zeroline: false,
    ticks: "",
  };
}

/** What stands above a panel: its title, and what the numbers on the right are. */
export function panelHeads(view, title, numbers, { left, right, top }) {
  const above = {
    xref: "paper",
    yref: "paper",
    y: top,
    yshift: 4,
    xanchor: "left",
    yanchor: "bottom",
    showarrow: false,
  };
  return [
    { ...above, text: `<b>${title}</b>`, x: left },
    { ...above, text: numbers, x: right, xshift: 6, font: { size: 11, color: view.colour("soft") } },
  ];
}

/** What stands beside a row: its name and its number, in its colour. */
export function rowEnds(id, name, number, y, colour, { left, right }) {
  const beside = { xref: "paper", yref: `y${id}`, y, showarrow: false, font: { color: colour } };
  return [
    { ...beside, text: name, x: left, xshift: -8, xanchor: "right" },
    { ...beside, text: number, x: right, xshift: 6, xanchor: "left" },
  ];
}
