"use strict"
// Shows the state anew, each ten seconds while the page is seen. Without this script the page is complete, and the browser loads it again.
const shown = document.getElementById("state")
const live = document.getElementById("live")
const say = word => {
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
    if (!state) return say("ended") // the session has ended
    if (state.innerHTML !== shown.innerHTML) shown.replaceChildren(...state.childNodes)
    say("live")
  } catch {
    say("lost")
  }
}
setInterval(show, 10000)
document.addEventListener("visibilitychange", show)
show()
