package pages

import "strings"

// text is a text of a page, with "%s" where something is put into it.
type text string

// Before and After return what is before and behind the place in a text. Where there is none, all of it is before.
func (t text) Before() string { before, _, _ := strings.Cut(string(t), "%s"); return before }

// After returns what is behind the place in a text.
func (t text) After() string { _, after, _ := strings.Cut(string(t), "%s"); return after }

// with returns a text with something in its place.
func (t text) with(s string) string { return t.Before() + s + t.After() }

// texts are the texts of all pages in one language: a field without one fails the tests, as one that nothing uses.
type texts struct {
	// Around every page.
	Colon, Skip, Start, Main, Languages, Contact, Imprint, Privacy, Where text

	// The start page.
	Welcome, FormLabel, LookUp, Append, Examples, Gateways, Namespaces, NamespacesLead, NamespacesKnown text

	// The list of namespaces, and the page of one.
	NamespacesAll, SpacesSay, SpaceFilter, SpaceFind, OneSpace, ManySpaces, SpaceTitle text
	SpaceSource, SpaceConfigured, SpacePattern, SpaceForm, SpaceChecks                 text
	SpaceSame, SpaceLeads, CheckForm, CheckStrict, CheckLenient                        text
	FoldNone, FoldAll, FoldFirst, FoldPrefix, StripSays, SameISBN, SameExcept          text
	LeadsRegistry, LeadsDNS, LeadsSLP, LeadsOther, LeadsAway, LeadsRule                text

	// The list of names of the registry, and how many there are of a namespace.
	Browse, BrowseSays, NamesPrefix, NamesWords, NamesHost, NamesTag, NamesStatus text
	StatusAny, StatusActive, StatusReserved, StatusWithdrawn, ForTrial            text
	MoreOfName                                                                    text
	LeadsToHost, AnotherName, SearchLate, GoOn, SpaceNames, OneName, ManyNames    text

	// The page of /fetch.
	FetchTitle, FetchSays, FetchLabel, Fetch text

	// Problems with a name.
	NotValid, NameNotFound, AddressNotFound, NameGone, AddressGone, NotNow                                       text
	Reserved, NoResource, NoAddress, Nobody, OwnerWithdrew, NoAnswer, Busy, CannotLookUp                         text
	AtMark, NoIdentifier, EndOfInput, OpenThis, Led, Withdrawn, Instead, Questions, Sandbox, DidYouMean, Details text
	Status, Octet                                                                                                text

	// Problems with a resource of another server.
	Unreached, NoSuch, PasswordNeeded, Refuses                                             text
	ProxyNoAnswer, ProxyBusy, ProxyRefused, FetchNoAnswer, FetchBusy, FetchRefused, Denied text
	Reason, HasNot, HadOnce, OnlyUsers, NotEverybody, NotUnderstood, CannotDo              text
	ServerBusy, Failed                                                                     text

	// Lists of URIs.
	NoneKnown text

	// The page about a name.
	InUse, Since, LeadsTo, NotAnswering, Related, OtherNames, Cite, QRCode, OtherFormats, Copy, Copied text
	Versions, AllVersions, HowResolved, StepByStep, AllSteps                                           text

	// The page of how a name is resolved.
	ExplainSays, ExplainCut, ExplainJSON, ExplainAbout                  text
	RuleOf, RuleUsed, RulePossible, RuleSkipped                         text
	RuleOrder, RuleFlags, RuleServices, RuleExpression, RuleReplacement text
	RuleMatched, RuleResult, RuleWhyNot                                 text
	FlagNext, FlagURI, FlagServers, FlagHost, FlagProtocol              text

	// The pages about the API.
	APITitle, APISays text

	// Listings of gateways.
	Up, Previous, Next, More, Warning, NotAll, ServerSays, Words, Search, Open      text
	Kind, Name, Size, Changed, Entries, Articles, UnitEntries, UnitArticles, Octets text
	OneEntry, ManyEntries, OneGroup, ManyGroups, Files                              text
	EmptyDirectory, EmptyMenu, EmptyGroups, EmptyGroup, EmptyResults                text
	Folder, WebPage, Group, Info, File, Link, Text, Image, Sound, Video, Document   text
	Archive, SearchKind, Form, Session, Article, Error, Other                       text
}
