package config

import "strings"

// warnOfEmpty warns of settings that are written without a value: their default holds, and of a rule all.
func (o Origins) warnOfEmpty(f *Faults) {
	if o.file == nil {
		return
	}
	const same = "has no value, as if it were not written"
	for _, path := range o.file.Empty {
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
			*f = append(*f, Fault{File: o.file.Name, Position: o.file.At(path), Path: path, Message: same + message})
		}
	}
}
