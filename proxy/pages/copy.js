"use strict"
// Buttons that copy the text of an element. They are hidden without this script, and without a clipboard: plain HTTP has
// none.
for (const button of navigator.clipboard ? document.querySelectorAll("button.copy") : []) {
  const text = document.getElementById(button.dataset.of).textContent
  const label = button.textContent
  button.classList.add("works")
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      return
    }
    button.textContent = button.dataset.done
    setTimeout(() => { button.textContent = label }, 2000)
  })
}
