package gate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Groups look up the groups of users. They are safe for concurrent use.
type Groups interface {
	// Memberships returns the subset of among that the user is a member of. An error means that the groups could not
	// be determined.
	Memberships(ctx context.Context, user string, among []string) ([]string, error)
}

// GroupFile maps users to their groups, from a file.
type GroupFile map[string][]string

// ParseGroups parses a file in the format of Apache's AuthGroupFile, such as "staff: alice bob" on a line. A
// group may have several lines.
func ParseGroups(text []byte) (GroupFile, error) {
	const maxLine = 1 << 20
	groups := make(GroupFile)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		group, members, ok := strings.Cut(line, ":")
		if group = strings.TrimSpace(group); !ok || group == "" || strings.ContainsAny(group, " \t") {
			return nil, fmt.Errorf("line %d: not a group, a colon and its users, such as staff: alice bob", n)
		}
		for member := range strings.FieldsSeq(members) {
			if !slices.Contains(groups[member], group) {
				groups[member] = append(groups[member], group)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading groups: %w", err)
	}
	return groups, nil
}

// Memberships implements Groups. It does not allocate if the user has no other groups.
func (f GroupFile) Memberships(_ context.Context, user string, among []string) ([]string, error) {
	all := f[user]
	isOther := func(group string) bool { return !slices.Contains(among, group) }
	if slices.ContainsFunc(all, isOther) {
		return slices.DeleteFunc(slices.Clone(all), isOther), nil
	}
	return all, nil
}
