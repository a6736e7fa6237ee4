"use strict"
// Formats times in the time zone of the reader. Without this script they are in UTC, and marked so.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
const shown = new Intl.DateTimeFormat(document.documentElement.lang, {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
})
for (const time of document.querySelectorAll("time[datetime*=T]")) {
  time.title = time.textContent
  time.textContent = shown.format(new Date(time.dateTime))
}

// A time field is shown in the time zone of the reader and submitted in UTC; the page is unchanged after going back.
const two = n => String(n).padStart(2, "0")
const local = t => `${String(t.getFullYear()).padStart(4, "0")}-${two(t.getMonth() + 1)}-${two(t.getDate())}T${two(t.getHours())}:${two(t.getMinutes())}` +
  (t.getSeconds() || t.getMilliseconds() ? `:${two(t.getSeconds())}.${String(t.getMilliseconds()).padStart(3, "0")}` : "")
const fields = zone ? document.querySelectorAll("input[type=datetime-local]") : []
for (const field of fields) {
  const time = new Date(field.value + "Z")
  if (!isNaN(time)) field.value = local(time)
  const named = document.querySelector(`#${CSS.escape(field.id)}-hint .zone`)
  if (named) named.textContent = zone
  field.form.addEventListener("formdata", e => {
    const typed = new Date(field.value)
    if (!isNaN(typed)) e.formData.set(field.name, typed.toISOString().replace("Z", ""))
  })
}
