"use strict"
// Updates the progress of a job from the page, fetched again. Without this script the page has a link for that.
const live = document.getElementById("live")
const notice = document.getElementById("notice")
const report = text => { if (notice.textContent !== text) notice.textContent = text }

async function poll() {
  if (document.hidden) return setTimeout(poll, 2000)
  let page
  try {
    const reply = await fetch(location.pathname, { headers: { Accept: "text/html" } })
    if (!reply.ok || reply.redirected) throw reply
    page = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live")
  } catch {
    report(notice.dataset.failed)
    return setTimeout(poll, 10000)
  }
  if (!page) return
  const has = live.contains(document.activeElement)
  if (page.dataset.ended) {
    report(notice.dataset.ended)
    live.replaceWith(page)
    if (has) page.querySelector("a, button")?.focus()
    return
  }
  // The element with the focus stays: only the figures are replaced.
  const figures = page.querySelector(".figures")
  if (figures) live.querySelector(".figures").replaceWith(figures)
  report(notice.dataset.shown)
  setTimeout(poll, 2000)
}
if (live && !live.dataset.ended) setTimeout(poll, 1000)
