// Package browser contains the end-to-end tests of urnd's pages as users see them: in Chromium, and in a text
// browser. A running urnd with a registry enters; the pages are checked for their content, accessibility (WCAG
// 2.2), content security policy, size and behavior of forms.
package browser
