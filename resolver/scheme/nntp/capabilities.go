package nntp

import (
	"slices"
	"strings"
)

// capabilities maps capability labels to their arguments, all in upper case: RFC 3977 section 3.3. It is nil
// for a server without the command.
type capabilities map[string][]string

// has reports whether there is a capability with all the given arguments.
func (c capabilities) has(label string, argument ...string) bool {
	arguments, ok := c[label]
	for _, a := range argument {
		ok = ok && slices.Contains(arguments, a)
	}
	return ok
}

// discover queries the capabilities: RFC 3977 section 5.2.
func (c *client) discover() error {
	r, err := c.command("CAPABILITIES")
	if err != nil {
		return err
	}
	c.capabilities = nil
	if r.code != codeCapabilities {
		return nil
	}
	c.capabilities = make(capabilities)
	lines := c.lines()
	for lines.next() {
		if words := strings.Fields(strings.ToUpper(lines.text())); len(words) > 0 {
			c.capabilities[words[0]] = words[1:]
		}
	}
	return lines.end()
}
