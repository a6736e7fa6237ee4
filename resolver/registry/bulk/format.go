package bulk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urnd/urnd/resolver/registry/bulk/foreign"
)

// Format is a format of names.
type Format string

// The formats.
const (
	Detect      Format = ""            // by the content: NDJSON or CSV, of an import
	CSV         Format = "csv"         // RFC 4180, separated by commas or semicolons
	TSV         Format = "tsv"         // CSV separated by tabs
	NDJSON      Format = "ndjson"      // a JSON object a line
	Bioregistry Format = "bioregistry" // the registry.json of the Bioregistry, of an import
	Handle      Format = "handle"      // a batch, or JSON, of the Handle.net software, of an import
	PURL        Format = "purl"        // XML of a PURL server, of an import
	W3ID        Format = "w3id"        // .htaccess files of Apache, as w3id.org has them, of an import
	Shlink      Format = "shlink"      // CSV or JSON of Shlink, of an import
	DNB         Format = "dnb"         // JSON or epicur of the Deutsche Nationalbibliothek, of an import
	RewriteMap  Format = "rewritemap"  // the text of a RewriteMap of Apache, of an import
	Nginx       Format = "nginx"       // a configuration of nginx, of an import
	NOID        Format = "noid"        // commands bind, or ANVL, of NOID and EZID, of an import
	DataCite    Format = "datacite"    // JSON of DataCite, of an import
	YOURLS      Format = "yourls"      // CSV or JSON of YOURLS, of an import
	NginxMap    Format = "nginx-map"   // a map of nginx, of an export
	NAPTRZone   Format = "naptr-zone"  // NAPTR records of RFC 3404 in a zone file, of an export
)

// baseOption is what a format makes of Import.Base.
type baseOption uint8

const (
	refused baseOption = iota
	optional
	required
)

// traits are what an import and an export can do with a format.
type traits struct {
	format   Format
	own      bool           // its columns or members are ours, or mapped to ours by Import.Mapping
	foreign  foreign.Format // what reads a format of another program
	exported bool
	base     baseOption
}

func (t *traits) imported() bool { return t.own || t.foreign != nil }

// allTraits are those of all formats. What an option of an import is for is here alone.
func allTraits() []traits {
	return []traits{
		{format: Detect, own: true, exported: true}, // it is CSV, TSV or NDJSON
		{format: CSV, own: true, exported: true},
		{format: TSV, own: true, exported: true},
		{format: NDJSON, own: true, exported: true},
		{format: Bioregistry, foreign: foreign.Bioregistry, base: optional},
		{format: DataCite, foreign: foreign.DataCite, base: optional},
		{format: DNB, foreign: foreign.DNB},
		{format: Handle, foreign: foreign.Handle, base: optional},
		{format: Nginx, foreign: foreign.Nginx, base: optional},
		{format: NOID, foreign: foreign.NOID, base: optional},
		{format: PURL, foreign: foreign.PURL, base: required},
		{format: RewriteMap, foreign: foreign.RewriteMap, base: optional},
		{format: Shlink, foreign: foreign.Shlink, base: optional},
		{format: W3ID, foreign: foreign.Apache, base: required},
		{format: YOURLS, foreign: foreign.YOURLS, base: optional},
		{format: NginxMap, exported: true},
		{format: NAPTRZone, exported: true},
	}
}

// traitsOf returns those of a format; of none they are the zero value.
func traitsOf(f Format) (t traits) {
	for _, t := range allTraits() {
		if t.format == f {
			return t
		}
	}
	return traits{}
}

// Imported returns the names of the formats of imports.
func Imported() []string { return formats(func(t traits) bool { return t.imported() }) }

// Exported returns the names of the formats of exports.
func Exported() []string { return formats(func(t traits) bool { return t.exported }) }

func formats(of func(traits) bool) (names []string) {
	for _, t := range allTraits() {
		if t.format != Detect && of(t) {
			names = append(names, string(t.format))
		}
	}
	return names
}

// CheckOptions returns why the options of an import do not fit to its format: none of them is ignored.
func (i *Import) CheckOptions() error {
	name := cmp.Or(i.Format, "CSV, TSV or NDJSON") // which Detect finds
	switch t := traitsOf(i.Format); {
	case !t.imported():
		return fmt.Errorf("%s is not a format of imports", i.Format)
	case i.Base != "" && t.base == refused:
		return fmt.Errorf("--base is what comes before the names of another program's format (--format): %s has whole names", name)
	case i.Base == "" && t.base == required:
		return fmt.Errorf("the format %s has only paths: --base is what comes before them, such as https://purl.example.org/", name)
	case len(i.Mapping) > 0 && !t.own:
		return fmt.Errorf("--map is for the columns of CSV and TSV and the members of NDJSON: what the parts of %s are is known", name)
	}
	return nil
}

// ParseFormat returns the format that a text names; "" is Detect.
func ParseFormat(text string) (Format, error) {
	f := Format(strings.ToLower(text))
	if f == "jsonl" {
		f = NDJSON
	}
	if t := traitsOf(f); !t.imported() && !t.exported {
		return Detect, fmt.Errorf("%q is not a format: imports have %s; exports %s", text, strings.Join(Imported(), ", "), strings.Join(Exported(), ", "))
	}
	return f, nil
}

// FormatOf returns the format that the name of a file tells, also where it is compressed; Detect if it
// tells none.
func FormatOf(filename string) Format {
	switch Extension(filename) {
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".ndjson", ".jsonl":
		return NDJSON
	default:
		return Detect
	}
}

// Extension returns what the name of a file ends with, from its last dot on and in lower case, without that of a compression.
func Extension(filename string) string {
	name := strings.ToLower(filepath.Base(filename))
	for _, compressed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, compressed)
	}
	return filepath.Ext(name)
}
