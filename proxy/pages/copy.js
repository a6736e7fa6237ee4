"use strict"
// Buttons that copy what an element says. Without this script, or without a clipboard, which plain HTTP has not, there are none to be seen.
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
