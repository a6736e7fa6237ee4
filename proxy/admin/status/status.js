"use strict"
// Updates the state every ten seconds while the page is visible. Without this script the browser reloads the page.
const shown = document.getElementById("state")
const live = document.getElementById("live")
const report = word => {
  const text = live.dataset[word] // in the language of the page
  if (live.textContent !== text) live.textContent = text
}

async function show() {
  const selection = getSelection()
  if (document.hidden || !selection.isCollapsed && shown.contains(selection.anchorNode)) return
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } })
    const page = new DOMParser().parseFromString(await response.text(), "text/html")
    const state = page.getElementById("state")
    if (!state) return report("ended") // the session has ended
    if (state.innerHTML !== shown.innerHTML) shown.replaceChildren(...state.childNodes)
    report("live")
  } catch {
    report("lost")
  }
}
setInterval(show, 10000)
document.addEventListener("visibilitychange", show)
show()
