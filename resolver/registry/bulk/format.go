package bulk

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urnd/urnd/resolver/registry/bulk/foreign"
)

// Format is a file format of names.
type Format string

// The formats.
const (
	Detect      Format = ""            // NDJSON or CSV, detected by the content; import only
	CSV         Format = "csv"         // RFC 4180, separated by commas or semicolons
	TSV         Format = "tsv"         // CSV separated by tabs
	NDJSON      Format = "ndjson"      // one JSON object per line
	Bioregistry Format = "bioregistry" // the registry.json of the Bioregistry; import only
	Handle      Format = "handle"      // a batch file or JSON of the Handle.net software; import only
	PURL        Format = "purl"        // XML of a PURL server; import only
	W3ID        Format = "w3id"        // .htaccess files of Apache, as at w3id.org; import only
	Shlink      Format = "shlink"      // CSV or JSON of Shlink; import only
	DNB         Format = "dnb"         // JSON or epicur of the Deutsche Nationalbibliothek; import only
	RewriteMap  Format = "rewritemap"  // the text file of a RewriteMap of Apache; import only
	Nginx       Format = "nginx"       // a configuration of nginx; import only
	NOID        Format = "noid"        // bind commands, or ANVL, of NOID and EZID; import only
	DataCite    Format = "datacite"    // JSON of DataCite; import only
	YOURLS      Format = "yourls"      // CSV or JSON of YOURLS; import only
	NginxMap    Format = "nginx-map"   // a map of nginx; export only
	NAPTRZone   Format = "naptr-zone"  // NAPTR records (RFC 3404) in a zone file; export only
)

// baseOption says whether a format refuses, accepts or requires Import.Base.
type baseOption uint8

const (
	refused baseOption = iota
	optional
	required
)

// traits describe the support of imports and exports for a format.
type traits struct {
	format   Format
	own      bool           // columns or members are those of this package, or mapped by Import.Mapping
	foreign  foreign.Format // the parser of another program's format; nil if there is none
	exported bool
	base     baseOption
}

func (t *traits) imported() bool { return t.own || t.foreign != nil }

// allTraits returns the traits of all formats. It is the only place that relates options of an import to
// formats.
func allTraits() []traits {
	return []traits{
		{format: Detect, own: true, exported: true}, // resolved to CSV, TSV or NDJSON
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

// traitsOf returns the traits of a format, the zero value if the format is unknown.
func traitsOf(f Format) (t traits) {
	for _, t := range allTraits() {
		if t.format == f {
			return t
		}
	}
	return traits{}
}

// ImportFormats returns the names of the formats that can be imported.
func ImportFormats() []string { return formats(func(t traits) bool { return t.imported() }) }

// ExportFormats returns the names of the formats that can be exported.
func ExportFormats() []string { return formats(func(t traits) bool { return t.exported }) }

func formats(of func(traits) bool) (names []string) {
	for _, t := range allTraits() {
		if t.format != Detect && of(t) {
			names = append(names, string(t.format))
		}
	}
	return names
}

// CheckOptions returns an error if an option of the import does not apply to its format, or a required one is
// missing. No option is ignored silently.
func (i *Import) CheckOptions() error {
	name := cmp.Or(i.Format, "CSV, TSV or NDJSON") // the formats that Detect finds
	switch t := traitsOf(i.Format); {
	case !t.imported():
		return fmt.Errorf("%s is not an import format", i.Format)
	case i.Base != "" && t.base == refused:
		return fmt.Errorf("--base is only for formats with relative names: names in %s are complete", name)
	case i.Base == "" && t.base == required:
		return fmt.Errorf("names in %s are paths: set --base, such as https://purl.example.org/", name)
	case len(i.Mapping) > 0 && !t.own:
		return fmt.Errorf("--map is only for columns of CSV and TSV and members of NDJSON, not for %s", name)
	}
	return nil
}

// ParseFormat parses the name of a format, case-insensitively; "" is Detect.
func ParseFormat(text string) (Format, error) {
	f := Format(strings.ToLower(text))
	if f == "jsonl" {
		f = NDJSON
	}
	if t := traitsOf(f); !t.imported() && !t.exported {
		return Detect, fmt.Errorf("invalid format %q: imports support %s; exports %s", text,
			strings.Join(ImportFormats(), ", "), strings.Join(ExportFormats(), ", "))
	}
	return f, nil
}

// FormatOf returns the format that the extension of a file name implies, also if the file is compressed;
// Detect if the extension is unknown.
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

// Extension returns the extension of a file name from its last dot on, in lower case. An extension of a
// compression (.gz, .zst, .zstd) is stripped first.
func Extension(filename string) string {
	name := strings.ToLower(filepath.Base(filename))
	for _, compressed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, compressed)
	}
	return filepath.Ext(name)
}
