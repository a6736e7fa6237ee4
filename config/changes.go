package config

import (
	"fmt"
	"reflect"
)

// maxChange bounds the text of one value in Changes.
const maxChange = 60

// Changes returns the settings that differ between two configurations, with both values, or
// "no setting": what is in the files that settings name may have changed all the same.
func Changes(before, after Config) []string {
	from, to := leaves(before), leaves(after)
	var changes []string
	for _, s := range Settings() {
		a, ok := from[s.Path]
		if b := to[s.Path]; !ok || reflect.DeepEqual(a, b) {
			continue
		}
		old, now := before.Text(s.Path), after.Text(s.Path)
		if len(old) > maxChange || len(now) > maxChange {
			changes = append(changes, s.Path)
			continue
		}
		changes = append(changes, fmt.Sprintf("%s: %s -> %s", s.Path, old, now))
	}
	if len(changes) == 0 {
		return []string{"no setting"}
	}
	return changes
}
