"use strict"
// Shows how far a job is, as the page says that is loaded again. Without this script there is a link for that.
const live = document.getElementById("live")
const said = document.getElementById("said")
const say = text => { if (said.textContent !== text) said.textContent = text }

async function look() {
  if (document.hidden) return setTimeout(look, 2000)
  let page
  try {
    const reply = await fetch(location.pathname, { headers: { Accept: "text/html" } })
    if (!reply.ok || reply.redirected) throw reply
    page = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live")
  } catch {
    say(said.dataset.failed)
    return setTimeout(look, 10000)
  }
  if (!page) return
  const has = live.contains(document.activeElement)
  if (page.dataset.ended) {
    say(said.dataset.ended)
    live.replaceWith(page)
    if (has) page.querySelector("a, button")?.focus()
    return
  }
  // What has the focus stays: only the figures are replaced.
  const figures = page.querySelector(".figures")
  if (figures) live.querySelector(".figures").replaceWith(figures)
  say(said.dataset.shown)
  setTimeout(look, 2000)
}
if (live && !live.dataset.ended) setTimeout(look, 1000)
