// Package plaintext is how people's texts are read and shown, by commands, the API and pages alike: times are parsed, and what others
// have written is shown in one line, without what commands a terminal, and not too long.
package plaintext
