package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// withoutValue returns the paths below a node that have a key and no value: what is left of lists that were commented out.
func withoutValue(node *yaml.Node) []string {
	var found []string
	add := func(key string, child *yaml.Node) {
		if child.Tag == "!!null" {
			found = append(found, key)
			return
		}
		for _, below := range withoutValue(child) {
			found = append(found, key+"."+below)
		}
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			add(strings.ToLower(node.Content[i].Value), node.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, child := range node.Content {
			add(strconv.Itoa(i), child)
		}
	}
	return found
}

// warnOfEmpty warns of settings that are written without a value: their default holds, and of a rule all.
func (o Origins) warnOfEmpty(f *Faults) {
	const same = "has no value, as if it were not written"
	for _, path := range o.empty {
		setting, isSetting := o.settings[path]
		rule, isRule := strings.CutPrefix(path, "proxy.rules.")
		_, condition, _ := strings.Cut(rule, ".")
		message := ""
		switch {
		case isSetting && setting.Kind != FromDefault, !strings.Contains(path, "."): // the environment has it; a section without settings
		case isSetting:
			message = ": write one, or delete the line for the default"
		case isRule:
			message = ": the rule is about all " + condition + ": write some, or delete the line"
		default:
			message = ": write one, or delete the line"
		}
		if message != "" {
			*f = append(*f, Fault{File: o.file, Line: o.lines.line(path), Path: path, Message: same + message})
		}
	}
}
