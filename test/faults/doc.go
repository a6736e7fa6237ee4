// Package faults has the end-to-end tests of how urnd answers, logs and counts where the servers that it depends on fail or lie.
package faults
