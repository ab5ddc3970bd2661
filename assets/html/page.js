"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (name, className, ...inside) => {
    const node = document.createElement(name);
    node.className = className;
    node.append(...inside);
    return node;
  };
  const button = (className, ...inside) => {
    const node = make("button", className, ...inside);
    node.type = "button";
    return node;
  };

  // Charts: the titles of the points become a read-out that pointer and arrow keys move.
  const NEAR = 56;
  const middle = (node) => {
    const box = node.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const chart = (plot) => {
    const figure = plot.closest("figure");
    const says = all(".own .m title", plot).map((title) => {
      title.remove();
      return title.textContent.split("\n");
    });
    const read = (area) => all(".m", area).map((node, index) => ({ node, says: says[index], series: node.closest(".series") }));
    const drawn = all(".area", plot).map((area) => ({ area, points: read(area) }));
    let { area, points } = drawn[0];
    const readout = plot.appendChild(make("div", "readout"));
    readout.setAttribute("role", "status");
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    cursor.setAttribute("class", "cursor");
    let at = null;

    const shown = () => points.filter((point) => !point.series.classList.contains("off"));
    const place = (point) => {
      const whole = plot.getBoundingClientRect();
      const [x, y] = [middle(point.node)[0] - whole.left, middle(point.node)[1] - whole.top];
      const [wide, high] = [readout.offsetWidth, readout.offsetHeight];
      const right = x + 14 + wide <= whole.width;
      const left = right ? x + 14 : x - 14 - wide;
      // Where neither side has room it stands below or above the point.
      const sideways = left >= 0;
      const top = sideways ? y - high / 2 : y + 14 + high <= whole.height ? y + 14 : y - 14 - high;
      readout.style.left = `${Math.max(0, Math.min(left, whole.width - wide))}px`;
      readout.style.top = `${sideways ? Math.max(0, Math.min(top, whole.height - high)) : top}px`;
    };
    const show = (point) => {
      if (point === at) return;
      if (at) [at.node, at.series].forEach((node) => node.classList.remove("on"));
      at = point;
      area.classList.toggle("reading", point !== null);
      readout.classList.toggle("shown", point !== null);
      if (point === null) {
        readout.replaceChildren();
        return cursor.remove();
      }
      [point.node, point.series].forEach((node) => node.classList.add("on"));
      const box = point.node.getBBox();
      for (const [name, value] of [["x1", box.x + box.width / 2], ["x2", box.x + box.width / 2], ["y2", area.viewBox.baseVal.height - 28]]) {
        cursor.setAttribute(name, value);
      }
      area.prepend(cursor);
      const name = make("p", "", point.says[0]);
      readout.replaceChildren(name, ...point.says.slice(1).map((line) => make("p", "", line)));
      place(point);
    };
    const nearest = (from, distance, most) => {
      const best = from.reduce((best, point) => {
        const far = distance(point);
        return far < best.far ? { far, point } : best;
      }, { far: most, point: null });
      return best.point;
    };
    const point = (event) => {
      const far = (p) => {
        const [x, y] = middle(p.node);
        return Math.hypot(x - event.clientX, y - event.clientY);
      };
      show(nearest(shown(), far, NEAR));
    };
    plot.addEventListener("pointermove", point);
    plot.addEventListener("pointerdown", point);
    plot.addEventListener("pointerleave", () => show(null));

    const along = (step) => {
      const mates = shown().filter((p) => p.series === at.series);
      return mates[mates.indexOf(at) + step] ?? at;
    };
    const other = (step) => {
      const series = [...new Set(shown().map((p) => p.series))];
      const next = series[(series.indexOf(at.series) + step + series.length) % series.length];
      return nearest(shown().filter((p) => p.series === next), (p) => Math.abs(middle(p.node)[0] - middle(at.node)[0]), Infinity);
    };
    const keys = {
      ArrowRight: () => along(1),
      ArrowLeft: () => along(-1),
      ArrowUp: () => other(-1),
      ArrowDown: () => other(1),
      Home: () => shown().find((p) => p.series === at.series),
      End: () => shown().findLast((p) => p.series === at.series),
      Escape: () => null,
    };
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    plot.setAttribute("aria-label", `${plot.dataset.title}: arrow keys read out the points`);
    plot.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      const next = at && shown().includes(at) ? keys[event.key]() : (shown()[0] ?? null);
      next?.node.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(next);
    });
    plot.addEventListener("focus", () => plot.matches(":focus-visible") && show(shown()[0] ?? null));
    plot.addEventListener("blur", () => show(null));

    // The chart is drawn on both scales; one is shown.
    if (!figure.dataset.scale) return;
    const turn = button("turn", figure.dataset.scale);
    turn.addEventListener("click", () => {
      show(null);
      const other = figure.classList.toggle("other-scale");
      ({ area, points } = drawn[other ? 1 : 0]);
      turn.textContent = turn.textContent === "linear" ? "logarithmic" : "linear";
    });
    figure.querySelector("figcaption").prepend(turn);
  };
  all(".plot").forEach(chart);

  // The legend: a press hides a series in all charts, two show it alone.
  const legend = all(".legend li").map((item) => {
    const node = button("", ...item.childNodes);
    item.append(node);
    const series = all(`.series[data-series="${item.dataset.series}"]`);
    const set = (on) => {
      node.setAttribute("aria-pressed", on);
      series.forEach((one) => one.classList.toggle("off", !on));
    };
    const stress = (on) => {
      series.forEach((one) => one.classList.toggle("on", on));
      all(".area").forEach((area) => area.classList.toggle("reading", on));
    };
    const entry = { set, on: () => node.getAttribute("aria-pressed") === "true" };
    set(true);
    node.addEventListener("click", () => set(!entry.on()));
    node.addEventListener("dblclick", () => {
      const alone = legend.every((one) => one === entry || !one.on());
      legend.forEach((one) => one.set(alone || one === entry));
    });
    node.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && stress(true));
    node.addEventListener("pointerleave", () => stress(false));
    return entry;
  });
  if (legend.length > 1) {
    for (const [words, on] of [["Show all", true], ["Hide all", false]]) {
      const node = button("", words);
      node.addEventListener("click", () => legend.forEach((one) => one.set(on)));
      document.querySelector(".legend").append(make("li", "all", node));
    }
  }

  // The table: a head sorts by its column, first the way that is asked for most, then the other, then as it was.
  const turns = { n: ["none", "descending", "ascending"], "": ["none", "ascending", "descending"] };
  const sortable = (table) => {
    const [body, heads] = [table.tBodies[0], all("th", table)];
    const rows = [...body.rows];
    const key = (row, column, numbers) => {
      const cell = row.cells[column];
      const known = numbers ? parseFloat(cell.dataset.key) : cell.textContent.trim();
      return numbers ? (Number.isNaN(known) ? null : known) : known === "-" ? null : known;
    };
    heads.forEach((head, column) => {
      const numbers = head.classList.contains("n");
      const order = turns[numbers ? "n" : ""];
      const node = button("", ...head.childNodes);
      head.append(node);
      head.setAttribute("aria-sort", "none");
      node.addEventListener("click", () => {
        const next = order[(order.indexOf(head.getAttribute("aria-sort")) + 1) % order.length];
        heads.forEach((one) => one.setAttribute("aria-sort", one === head ? next : "none"));
        table.classList.toggle("sorted", next !== "none");
        const sign = next === "descending" ? -1 : 1;
        const compare = (a, b) => {
          const [left, right] = [key(a, column, numbers), key(b, column, numbers)];
          // What has no figure comes last either way.
          if (left === null || right === null) return (left === null) - (right === null);
          return sign * (numbers ? left - right : left.localeCompare(right, "en", { numeric: true }));
        };
        body.append(...(next === "none" ? rows : [...rows].sort(compare)));
      });
    });
  };
  all("table").forEach(sortable);

  // The data, as a file of their own.
  const save = button("", "Save the data as JSON");
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([document.getElementById("iotui-data").textContent], { type: "application/json" }));
    link.download = "iotui.json";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  document.querySelector("footer").append(save);
})();
