"use strict"
// The figures of the page, as they change. Without this script the page is complete, as of when it was loaded.
const element = id => document.getElementById(id)
const live = element("live")

// set makes a node show a text: what does not change keeps a selection.
const set = (node, text) => { if (node && node.textContent !== text) node.textContent = text }
const mark = (node, names) => { if (node.className !== names) node.className = names }

function showVerdict(state) {
  mark(element("verdict"), "verdict " + state.severity)
  set(element("said"), state.verdict)
  const list = element("reasons")
  while (list.children.length > state.reasons.length) list.lastElementChild.remove()
  state.reasons.forEach((text, i) => set(list.children[i] || list.appendChild(document.createElement("li")), text))
}

function showFigure(figure) {
  const tile = element(figure.id)
  if (!tile) return
  mark(tile, figure.severity)
  set(tile.querySelector("b"), figure.text)
  set(tile.querySelector("small"), figure.note)
  const line = tile.querySelector("polyline")
  if (line.getAttribute("points") !== figure.line) line.setAttribute("points", figure.line)
}

function showTable(table) {
  const body = element(table.id)
  if (!body) return
  const labels = [...body.parentElement.tHead.rows[0].cells].map(cell => cell.textContent)
  while (body.rows.length > table.rows.length) body.deleteRow(-1)
  table.rows.forEach((shown, i) => {
    const row = body.rows[i] || body.insertRow()
    mark(row, shown.severity)
    while (row.cells.length > shown.cells.length) row.deleteCell(-1)
    shown.cells.forEach((text, j) => {
      let cell = row.cells[j]
      if (!cell) {
        cell = document.createElement(j ? "td" : "th")
        if (j) cell.dataset.of = labels[j] || ""
        else cell.scope = "row"
        row.append(cell)
      }
      cell.colSpan = shown.cells.length > 1 ? 1 : labels.length
      set(cell, text)
    })
  })
}

const source = new EventSource("/events")
source.onopen = () => set(live, "The figures are live.")
source.onmessage = event => {
  const state = JSON.parse(event.data)
  showVerdict(state)
  state.figures.forEach(showFigure)
  state.tables.forEach(showTable)
}
source.onerror = () => set(live, source.readyState === EventSource.CLOSED
  ? "The figures are not live: reload the page to see others."
  : "The connection has ended, and is tried again.")
