package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/urnd/urnd/config/source"
)

// Load reads a configuration from, in rising precedence: the defaults, a file (none if path is empty), the
// environment, and flags, which maps setting paths to values. The error is of type Diagnostics, or the reason why
// the file cannot be read.
func Load(path string, flags map[string]any) (Config, error) {
	c, _, err := LoadOrigins(path, flags)
	return c, err
}

// LoadOrigins is Load, and also returns the origin of each value.
func LoadOrigins(path string, flags map[string]any) (Config, Origins, error) {
	v := viper.New()
	v.SetEnvPrefix("URND")
	v.AllowEmptyEnv(true) // an empty value disables a setting
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_"))
	for key, value := range leaves(Default()) {
		v.SetDefault(key, value)
		if err := v.BindEnv(key); err != nil {
			return Config{}, Origins{}, fmt.Errorf("binding the environment of %s: %w", key, err)
		}
	}
	origins := Origins{settings: make(map[string]Origin)}
	if path != "" {
		file, err := source.Read(path, schemaOfFiles())
		if err != nil {
			return Config{}, Origins{}, err
		}
		if err := v.MergeConfigMap(file.Values); err != nil {
			return Config{}, Origins{}, fmt.Errorf("reading configuration %s: %w", path, err)
		}
		origins.file = file
	}
	for key, value := range flags {
		v.Set(key, value)
	}
	origins.setOrigins(v, flags)
	origins.sizes = sizesWithoutUnit(v.Get)
	c, err := decode(v)
	var failures Diagnostics
	if errors.As(err, &failures) || origins.file.IsWrong() {
		explain(failures, origins.sizes)
		failures = origins.file.Instead(failures, unknownKey)
		failures.Locate(origins)
		c, err = Config{}, failures
	}
	if unknown := unknownVariables(); len(unknown) > 0 {
		return Config{}, origins, append(unknown, failures...)
	}
	return c, origins, err
}

// setOrigins sets the origins of the settings.
func (o *Origins) setOrigins(v *viper.Viper, flags map[string]any) {
	for key := range leaves(Default()) {
		variable := variableOf(key)
		_, isFlag := flags[key]
		_, isVariable := os.LookupEnv(variable)
		switch {
		case isFlag:
			o.settings[key] = Origin{Kind: FromFlag}
		case isVariable:
			o.settings[key] = Origin{Kind: FromEnvironment, Name: variable}
		case v.InConfig(key):
			o.settings[key] = Origin{Kind: FromFile, Name: o.file.Name, Position: o.file.At(key)}
		default:
			o.settings[key] = Origin{}
		}
	}
}

// unknownKey starts the message about an unknown key.
const unknownKey = "unknown key"

// unknownSetting returns the message about an unknown key, with a suggestion if possible.
func unknownSetting(key string) string {
	if instead := settingForDirective(key); instead != "" {
		return unknownKey + ": " + instead
	}
	if known := withoutSection(key); known != "" {
		return fmt.Sprintf(unknownKey+"; did you mean %s? Its section is missing above it, or the line is not indented",
			known)
	}
	if known := suggest(key); known != "" {
		return fmt.Sprintf(unknownKey+"; did you mean %s?", known)
	}
	return unknownKey
}

// decode decodes and validates a Config, and collects all errors: of types, unknown keys and values.
func decode(v *viper.Viper) (Config, error) {
	config := Default()
	var found mapstructure.Metadata
	var failures Diagnostics
	err := v.Unmarshal(&config, func(d *mapstructure.DecoderConfig) {
		d.Metadata = &found
		d.ZeroFields = true
		d.DecodeHook = decodeHook()
	})
	for _, failure := range typeFailures(err) {
		if plain := wrongElement(failure); plain != "" {
			failure.Message = plain
		} else if mayHoldSecret(failure.Path) {
			failure.Message = "has another type; its value is not shown, since it may be the secret"
		} else if plain := wrongType(failure.Path, v.Get(failure.Path)); plain != "" {
			failure.Message = plain
		} else if value := v.Get(failure.Path); value != nil && !strings.Contains(failure.Message, fmt.Sprint(value)) {
			failure.Message = fmt.Sprintf("%q: %s", fmt.Sprint(value), failure.Message)
		}
		if bound := boundOf(failure.Path); bound != "" && !strings.Contains(failure.Message, bound) {
			failure.Message += " (" + bound + ")"
		}
		failures = append(failures, failure)
	}
	for _, key := range withoutSecretKeys(unknown(v, found.Unused)...) {
		failures.Add(key, "%s", unknownSetting(key))
	}
	var invalid Diagnostics
	if errors.As(config.Validate(), &invalid) {
		failures = append(failures, invalid...)
	}
	if failures = tablesForLists(v.Get, withoutParts(failures)); len(failures) > 0 {
		return Config{}, failures
	}
	return config, nil
}

// decodeHook returns the hook that converts values of settings. It skips texts that stay texts, which would
// take most of the time for long lists.
func decodeHook() mapstructure.DecodeHookFuncValue {
	all := mapstructure.ComposeDecodeHookFunc(
		noSwitches,
		durationUnits,
		wholeNumbers,
		plainWords,
		trueOrFalse,
		singlePorts,
		singleAddresses,
		mapstructure.StringToTimeDurationHookFunc(),
		mapstructure.TextUnmarshallerHookFunc(),
		splitList,
	)
	return func(from, to reflect.Value) (any, error) {
		if from.Kind() == reflect.String && to.Type() == reflect.TypeFor[string]() {
			return strings.TrimRight(from.String(), "\n"), nil // YAML block scalars (> and |) end with a line end
		}
		return mapstructure.DecodeHookExec(all, from, to)
	}
}

// noSwitches rejects booleans for settings that are numbers, which mapstructure would decode as 1 and 0, or
// that have their own text form.
func noSwitches(from, to reflect.Type, value any) (any, error) {
	switch to.Kind() {
	case reflect.Bool, reflect.String, reflect.Slice, reflect.Interface:
		return value, nil
	default:
		if from.Kind() == reflect.Bool {
			return nil, fmt.Errorf("\"%v\" is not a valid value", value)
		}
		return value, nil
	}
}

// durationUnits rejects a duration without unit, which mapstructure would decode as nanoseconds, and one in
// days or weeks.
func durationUnits(from, to reflect.Type, value any) (any, error) {
	duration := reflect.TypeFor[time.Duration]()
	if to != duration || from == duration {
		return value, nil
	}
	if number, err := strconv.ParseFloat(fmt.Sprint(value), 64); err == nil && number != 0 {
		return nil, fmt.Errorf("%v has no unit: write %[1]vs or %[1]vms", value)
	}
	if text, ok := value.(string); ok && inHours(text) != "" {
		return nil, fmt.Errorf("%q is not a duration such as 5s, 2m or 1h30m%s", text, inHours(text))
	}
	return value, nil
}

// wholeNumbers rejects fractions, which mapstructure would truncate, and texts that it would decode as octal
// numbers.
func wholeNumbers(_, to reflect.Type, value any) (any, error) {
	if text, ok := value.(string); ok && to == reflect.TypeFor[int]() && source.NotDecimal(text) != "" {
		return nil, errors.New(source.NotDecimal(text))
	}
	if number, ok := value.(float64); ok && to.Kind() >= reflect.Int && to.Kind() <= reflect.Uint64 &&
		number != math.Trunc(number) {
		return nil, fmt.Errorf("%v is not a whole number", number)
	}
	return value, nil
}

// singlePorts decodes a number as a range of one port.
func singlePorts(from, to reflect.Type, value any) (any, error) {
	if to == reflect.TypeFor[PortRange]() && from.Kind() >= reflect.Int && from.Kind() <= reflect.Float64 {
		return fmt.Sprint(value), nil
	}
	return value, nil
}

// plainWords decodes booleans as words for settings that are texts: mapstructure would decode them as "1" and
// "0".
func plainWords(from, to reflect.Type, value any) (any, error) {
	if from.Kind() == reflect.Bool && to.Kind() == reflect.String {
		return fmt.Sprint(value), nil
	}
	return value, nil
}

// trueOrFalse rejects words other than true and false for boolean settings, with a suggestion.
func trueOrFalse(from, to reflect.Type, value any) (any, error) {
	if from.Kind() != reflect.String || to.Kind() != reflect.Bool {
		return value, nil
	}
	text := fmt.Sprint(value)
	if _, err := strconv.ParseBool(text); err != nil {
		return nil, fmt.Errorf("%q is not true or false%s", text, asBool(text))
	}
	return value, nil
}

// boundOf returns the allowed values of the setting at a path, or of the setting that contains it; "" for
// tables, whose settings have their own.
func boundOf(path string) string {
	for _, s := range Settings() {
		isAround := strings.HasPrefix(path, s.Path+".") && !s.IsSection()
		if s.Form != tableForm && (path == s.Path || isAround) {
			return s.DescribeBounds()
		}
	}
	return ""
}

// tableForm is the Form of a list of tables.
const tableForm = "table"

// splitList splits "a, b" from a variable or a flag into a list; an empty text is an empty list.
func splitList(from, to reflect.Type, value any) (any, error) {
	text, ok := value.(string)
	if !ok || to.Kind() != reflect.Slice || from.Kind() != reflect.String {
		return value, nil
	}
	if text == "" {
		return []string{}, nil
	}
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list, nil
}

// unknown returns the unknown keys, sorted. mapstructure reports them only in tables without other errors, so
// its report is used only for keys in lists.
func unknown(v *viper.Viper, unused []string) []string {
	known := leaves(Default())
	sections := make(map[string]bool) // a section such as "dns:" alone is known
	for key := range known {
		section, _, _ := strings.Cut(key, ".")
		sections[section] = true
	}
	var keys []string
	for _, key := range v.AllKeys() {
		if _, ok := known[key]; !ok && !sections[key] {
			keys = append(keys, key)
		}
	}
	for _, key := range unused {
		if strings.Contains(key, "[") {
			keys = append(keys, dotted(key))
		}
	}
	slices.Sort(keys)
	return keys
}

// typeFailures splits the errors that mapstructure has joined.
func typeFailures(err error) Diagnostics {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var failures Diagnostics
		for _, e := range joined.Unwrap() {
			failures = append(failures, typeFailures(e)...)
		}
		return failures
	}
	var named *mapstructure.DecodeError
	if errors.As(err, &named) {
		return Diagnostics{{Path: dotted(named.Name()), Message: named.Unwrap().Error()}}
	}
	return Diagnostics{{Message: err.Error()}}
}

// dotted converts "namespaces[0].nid" to "namespaces.0.nid".
func dotted(key string) string {
	return strings.NewReplacer("[", ".", "]", "").Replace(key)
}

// Map returns c as nested maps with the keys of files, for output.
func (c Config) Map() map[string]any { return toMap(reflect.ValueOf(c), tableMap) }

// Text returns the value of a setting on one line, as it is written in files.
func (c Config) Text(path string) string { return scalar(withTables(leaves(c)[path])) }

// leaves returns all settings by path. Tables in lists are still structs: see withTables.
func leaves(c Config) map[string]any {
	flat := make(map[string]any)
	var walk func(prefix string, m map[string]any)
	walk = func(prefix string, m map[string]any) {
		for key, value := range m {
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
				continue
			}
			flat[prefix+key] = value
		}
	}
	walk("", toMap(reflect.ValueOf(c), reflect.Value.Interface))
	return flat
}

// withTables converts the tables in a value of leaves to maps. It is separate, because there may be thousands,
// and most callers need none.
func withTables(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	tables := make([]any, len(list))
	for i, element := range list {
		tables[i] = tableMap(reflect.ValueOf(element))
	}
	return tables
}

func tableMap(v reflect.Value) any { return toMap(v, tableMap) }

// toMap converts a struct to a map. Only sections become maps; table converts the tables of lists; other values
// stay unchanged.
func toMap(v reflect.Value, table func(reflect.Value) any) map[string]any {
	m := make(map[string]any, v.NumField())
	for i := range v.NumField() {
		key := v.Type().Field(i).Tag.Get("mapstructure")
		field := v.Field(i)
		switch {
		case isSection(field.Type()):
			m[key] = toMap(field, table)
		case field.Kind() == reflect.Slice && isSection(field.Type().Elem()):
			list := make([]any, field.Len())
			for j := range list {
				list[j] = table(field.Index(j))
			}
			m[key] = list
		default:
			m[key] = field.Interface()
		}
	}
	return m
}

// isSection distinguishes a struct of settings from a value that is a struct.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() > 0 && t.Field(0).Tag.Get("mapstructure") != ""
}
