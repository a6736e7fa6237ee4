package config

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const (
	durationPattern = `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`
	portsPattern    = `^(0|[1-9][0-9]*)(-[1-9][0-9]*)?$`
	sizePattern     = `^[0-9]+(\.[0-9]+)? ?([KMGTPEkmgtpe]i?)?[Bb]?$`
)

// Schema returns a JSON Schema (draft 2020-12) of configuration files, for editors and validators. It is less
// strict than Validate: it does not check relations between settings.
func Schema() []byte {
	root := object()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "urnd.yaml"
	properties := root["properties"].(map[string]any) //nolint:forcetypeassert // object created it
	values, fields := leaves(Default()), fieldsByPath(reflect.ValueOf(Config{}))
	for _, s := range Settings() {
		section, leaf, isLeaf := strings.Cut(s.Path, ".")
		if s.IsSection() {
			table := object()
			table["description"] = s.Doc
			table["type"] = []string{"object", "null"} // an empty section sets nothing
			properties[section] = table
			continue
		}
		schema := schemaOf(fields[s.Path].Type(), s)
		schema["description"] = s.Doc
		schema["default"] = ToPlain(values[s.Path])
		if !isLeaf {
			properties[section] = schema
			continue
		}
		properties[section].(map[string]any)["properties"].(map[string]any)[leaf] = schema //nolint:forcetypeassert // object created both
	}
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil // unreachable: all values can be encoded
	}
	return append(text, '\n')
}

// typeOf returns the type of a setting.
func typeOf(path string) reflect.Type { return fieldsByPath(reflect.ValueOf(Config{}))[path].Type() }

func object() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
}

// textOrInteger returns the schema of a text that matches a pattern, and may be written as an integer.
func textOrInteger(pattern, comment string) map[string]any {
	return map[string]any{"type": []string{"string", "integer"}, "pattern": pattern, "$comment": comment}
}

// schemaOf returns the schema of a value within the limits of s.
func schemaOf(t reflect.Type, s Setting) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		schema := textOrInteger(durationPattern, s.DescribeBounds())
		schema["minimum"], schema["maximum"] = 0, 0 // only 0 needs no unit
		return schema
	case t == reflect.TypeFor[Size]():
		return textOrInteger(sizePattern, s.DescribeBounds())
	case t == reflect.TypeFor[PortRange]():
		schema := textOrInteger(portsPattern, s.Form)
		schema["minimum"], schema["maximum"] = 0, math.MaxUint16
		return schema
	case isSection(t):
		return schemaOfTable(t, s.Path)
	case t.Kind() == reflect.Slice && strings.HasPrefix(s.Path, "listen.") && t.Elem().Kind() == reflect.String:
		// A single address may be written without a list.
		return map[string]any{"type": []string{"array", "string"}, "items": schemaOf(t.Elem(), s)}
	case t.Kind() == reflect.Slice && isSection(t.Elem()):
		return map[string]any{"type": "array", "items": schemaOfTable(t.Elem(), s.Path+"."+anyIndex)}
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), s)}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": "boolean"}
	case t.Kind() == reflect.Int && !isText(t):
		return schemaOfInt(s)
	default:
		return schemaOfText(s)
	}
}

// schemaOfTable returns the schema of a table in a list, or in another table.
func schemaOfTable(t reflect.Type, path string) map[string]any {
	table := object()
	properties := table["properties"].(map[string]any) //nolint:forcetypeassert // object created it
	for field := range t.Fields() {
		key := field.Tag.Get("mapstructure")
		element := Setting{Path: path + "." + key}
		for _, declared := range Elements() {
			if declared.Path == element.Path {
				element = declared
			}
		}
		schema := schemaOf(field.Type, element)
		schema["description"] = element.Doc
		properties[key] = schema
	}
	return table
}

// isText reports whether a numeric type is written as text, such as a log level.
func isText(t reflect.Type) bool {
	_, ok := t.MethodByName("MarshalText")
	return ok
}

func schemaOfInt(s Setting) map[string]any {
	schema := map[string]any{"type": "integer"}
	if s.Least != nil {
		schema["minimum"], schema["maximum"] = s.Least, s.Most
	}
	var enum []int
	for _, word := range s.OneOf {
		if n, err := strconv.Atoi(word); err == nil {
			enum = append(enum, n)
		}
	}
	if enum != nil {
		schema["enum"] = enum
	}
	return schema
}

func schemaOfText(s Setting) map[string]any {
	schema := map[string]any{"type": "string"}
	switch {
	case s.Path == "log.level": // slog accepts any case
		schema["enum"] = append(strings.Fields(strings.ToLower(strings.Join(s.OneOf, " "))), s.OneOf...)
	case s.OneOf != nil:
		schema["enum"] = s.OneOf
	case s.Form != "":
		schema["$comment"] = s.Form
	}
	return schema
}
