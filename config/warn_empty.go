package config

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// withoutValue returns the paths of a YAML file that have a key and no value: what is left of lists that were commented out.
func withoutValue(text []byte) []string {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return nil
	}
	return nulls(nil, "", document.Content[0])
}

func nulls(found []string, path string, node *yaml.Node) []string {
	switch {
	case node.Tag == "!!null":
		return append(found, path)
	case node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			found = nulls(found, strings.TrimPrefix(path+"."+strings.ToLower(node.Content[i].Value), "."), node.Content[i+1])
		}
	case node.Kind == yaml.SequenceNode:
		for i, child := range node.Content {
			found = nulls(found, path+"."+strconv.Itoa(i), child)
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
