// Package browser has the end-to-end tests of urnd's pages as people see them: in Chromium, and in a browser for terminals.
package browser
