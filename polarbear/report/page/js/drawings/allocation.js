// Where the budget went: how many instances saw each algorithm how far, and what rounds gave out.

DRAWINGS.allocation = (view, rows) => {
  const names = [...new Set(rows.map((row) => row.algorithm))].filter(view.shows).sort((a, b) => PAGE.algorithms.indexOf(a) - PAGE.algorithms.indexOf(b));
  const times = PAGE.times;
  const raced = rows.some((row) => row.round !== null);
  const seen = names.map((name) => {
    const mine = rows.filter((row) => row.algorithm === name);
    return times.map((t) => mine.reduce((sum, row) => sum + (row.to >= t ? row.instances : 0), 0));
  });
  const strips = names.length * 28;
  const bars = raced ? 190 : 0;
  const between = raced ? 84 : 0;
  const inner = strips + bars + between || 1;
  const traces = [
    {
      type: "heatmap", x: borders(times, PAGE.log_times), y: names.map((_, i) => i), z: seen, zmin: 0, ygap: 2,
      colorscale: [[0, view.colour("least")], [1, view.colour("most")]],
      showscale: false,
      customdata: seen.map((row, i) => row.map(() => plain(names[i]))),
      hovertemplate: `%{customdata} ran to %{x:,.4~g} ${AXIS}<br>on %{z:,} instances<extra></extra>`,
    },
  ];
  const layout = {
    height: inner + 60,
    margin: { l: 60, r: 12, t: 6, b: 48 },
    xaxis: timeAxis(PAGE.log_times, { anchor: "y", showgrid: false, range: undefined, ...stripRange(times) }),
    yaxis: nameAxis(view, names, { domain: [(bars + between) / inner, 1], range: [names.length - 0.5, -0.5], ticks: "" }),
  };
  if (raced) {
    const numbers = [...new Set(rows.map((row) => row.round))];
    const whole = numbers.map((number) => rows.filter((row) => row.round === number).reduce((sum, row) => sum + row.everything, 0));
    const shape = { width: 0.82, xaxis: "x2", yaxis: "y2", type: "bar" };
    for (const name of names) {
      const given = numbers.map((number) => rows.filter((row) => row.round === number && row.algorithm === name).reduce((sum, row) => sum + row.allotted, 0));
      traces.push({
        ...shape, x: numbers, y: given, marker: { color: view.of(name), line: { width: 0 } },
        customdata: numbers.map(() => plain(name)),
        hovertemplate: `%{customdata}, round %{x}<br>%{y:,} ${AXIS}<extra></extra>`,
      });
    }
    layout.barmode = "stack";
    layout.xaxis2 = roundAxis(numbers[0], numbers[numbers.length - 1], { anchor: "y2" });
    layout.yaxis2 = { domain: [0, bars / inner], anchor: "x2", title: { text: AXIS, standoff: 6 }, nticks: 4, zeroline: false, rangemode: "tozero", range: [0, 1.05 * Math.max(...whole)] };
    layout.shapes = numbers.map((number, i) => ({
      type: "rect", xref: "x2", yref: "y2", x0: number - 0.41, x1: number + 0.41, y0: 0, y1: whole[i],
      line: { color: view.colour("soft"), width: 1, dash: "dot" },
    }));
  }
  return { traces, layout };
};

function stripRange(times) {
  const edges = borders(times, PAGE.log_times);
  const ends = [edges[0], edges[edges.length - 1]];
  return { range: PAGE.log_times ? ends.map(Math.log10) : ends };
}
