package represent

import "strings"

// kind is the type of an object in the vocabularies of citations.
type kind struct {
	schema string // type of schema.org
	csl    string // type of CSL 1.0.2
	ris    string
}

// kindOf returns the kind of a type: a term of DataCite (resourceTypeGeneral 4.5), DCMI Type or schema.org,
// such as "Dataset", optionally with a subtype as in EZID, "Dataset/Survey". An object without metadata may
// be no work at all.
func kindOf(m Metadata) (k kind, known bool) {
	word, _, _ := strings.Cut(m.Type, "/")
	word = strings.ToLower(strings.Join(strings.Fields(strings.TrimPrefix(word, "schema:")), ""))
	k, known = kinds[word]
	switch {
	case known:
		return k, true
	case m.isZero():
		return kind{"Thing", "document", "GEN"}, false
	default:
		return kind{"CreativeWork", "document", "GEN"}, false
	}
}

var kinds = map[string]kind{
	"article":               {"Article", "article", "GEN"},
	"audiovisual":           {"MediaObject", "motion_picture", "VIDEO"},
	"book":                  {"Book", "book", "BOOK"},
	"bookchapter":           {"Chapter", "chapter", "CHAP"},
	"chapter":               {"Chapter", "chapter", "CHAP"},
	"collection":            {"Collection", "collection", "GEN"},
	"computationalnotebook": {"SoftwareSourceCode", "software", "COMP"},
	"conferencepaper":       {"ScholarlyArticle", "paper-conference", "CPAPER"},
	"conferenceproceeding":  {"Periodical", "book", "CONF"},
	"creativework":          {"CreativeWork", "document", "GEN"},
	"datapaper":             {"ScholarlyArticle", "article-journal", "JOUR"},
	"dataset":               {"Dataset", "dataset", "DATA"},
	"dissertation":          {"Thesis", "thesis", "THES"},
	"event":                 {"Event", "event", "GEN"},
	"image":                 {"ImageObject", "graphic", "FIGURE"},
	"imageobject":           {"ImageObject", "graphic", "FIGURE"},
	"journal":               {"Periodical", "periodical", "JFULL"},
	"journalarticle":        {"ScholarlyArticle", "article-journal", "JOUR"},
	"map":                   {"Map", "map", "MAP"},
	"movingimage":           {"VideoObject", "motion_picture", "VIDEO"},
	"patent":                {"CreativeWork", "patent", "PAT"},
	"periodical":            {"Periodical", "periodical", "JFULL"},
	"physicalobject":        {"Thing", "document", "GEN"},
	"preprint":              {"ScholarlyArticle", "article", "UNPB"},
	"report":                {"Report", "report", "RPRT"},
	"scholarlyarticle":      {"ScholarlyArticle", "article-journal", "JOUR"},
	"service":               {"Service", "document", "GEN"},
	"software":              {"SoftwareSourceCode", "software", "COMP"},
	"softwareapplication":   {"SoftwareApplication", "software", "COMP"},
	"softwaresourcecode":    {"SoftwareSourceCode", "software", "COMP"},
	"sound":                 {"AudioObject", "song", "SOUND"},
	"standard":              {"CreativeWork", "standard", "STAND"},
	"stillimage":            {"ImageObject", "graphic", "FIGURE"},
	"thesis":                {"Thesis", "thesis", "THES"},
	"videoobject":           {"VideoObject", "motion_picture", "VIDEO"},
	"webpage":               {"WebPage", "webpage", "ELEC"},
	"website":               {"WebSite", "webpage", "ELEC"},
}

// SchemaType returns the schema.org type of the described object, without the URL of the vocabulary.
func (m Metadata) SchemaType() string {
	k, _ := kindOf(m)
	return k.schema
}
