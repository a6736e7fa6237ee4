"use strict"
// The figures of the page, as they change. Without this script the page is complete, as of when it was loaded.
const live = document.getElementById("live")
const say = text => { if (live.textContent !== text) live.textContent = text }

// set makes an element show a text: what does not change keeps a selection.
const set = (element, text) => { if (element.textContent !== text) element.textContent = text }

function show(table) {
  const body = document.getElementById(table.id)
  if (!body) return
  while (body.rows.length > table.rows.length) body.deleteRow(-1)
  table.rows.forEach((texts, i) => {
    const row = body.rows[i] || body.insertRow()
    while (row.cells.length > texts.length) row.deleteCell(-1)
    texts.forEach((text, j) => {
      let cell = row.cells[j]
      if (!cell) {
        cell = document.createElement(j ? "td" : "th")
        if (!j) cell.scope = "row"
        row.append(cell)
      }
      set(cell, text)
    })
  })
}

const source = new EventSource("/events")
source.onopen = () => say("The figures are live.")
source.onmessage = event => JSON.parse(event.data).tables.forEach(show)
source.onerror = () => say(source.readyState === EventSource.CLOSED
  ? "The figures are not live: reload the page to see others."
  : "The connection has ended, and is tried again.")
