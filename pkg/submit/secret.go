package submit

import "github.com/kubectl-kinetic/kinetic/pkg/internal/lazyregexp"

// hidden replaces what is not shown.
const hidden = "…"

// secretWords are words that names of secrets contain.
const secretWords = `TOKEN|SECRET|KEY|PASSWORD|CREDENTIAL`

const (
	secretName = `(?i)` + secretWords
	// nameWord is a word of a name such as tokenizerName, --tokenizer-name or
	// TOKENIZER_NAME.
	nameWord = `[A-Z]+[a-z0-9]*|[a-z0-9]+`
	// harmlessWord is a word that contains one of secretWords and is known to mean
	// something else.
	harmlessWord = `(?i)^(?:(?:de|pre|re)?tokeni[sz](?:ed?|ers?|es|ing|ation)|` +
		`key(?:board|frame|note|point|stroke|word)s?|monkeys?)\d*$`
	// tokenCount is a model's number of tokens in a name such as max_new_tokens or
	// nTokens.
	tokenCount = `(?i)(?:^|[^a-z])(?:max|min|n|num|total|new)` +
		`(?:[_.-]?(?:new|total|context|prompt|input|output|completion|generated))?[_.-]?tokens`
)

// LooksSecret reports whether a name looks like that of a secret.
func LooksSecret(name string) bool {
	name = lazyregexp.Of(tokenCount).ReplaceAllString(name, "_")
	name = lazyregexp.Of(nameWord).ReplaceAllStringFunc(name, func(word string) string {
		if lazyregexp.Of(harmlessWord).MatchString(word) {
			return "_"
		}
		return word
	})
	return lazyregexp.Of(secretName).MatchString(name)
}

const (
	// someName is a name in a text that may be the name of a secret.
	someName = `(?i)[\w.-]*(?:` + secretWords + `)[\w.-]*`
	// itsValue follows a name that is assigned a value, or an option with a value.
	itsValue = `^\\?["']?(?:\s*[=:]|\s+\S)`
)

// assignsSecret reports whether a text, such as a shell script, assigns a value to
// something that looks like the name of a secret.
func assignsSecret(text string) bool {
	for _, at := range lazyregexp.Of(someName).FindAllStringIndex(text, -1) {
		if LooksSecret(text[at[0]:at[1]]) && lazyregexp.Of(itsValue).MatchString(text[at[1]:]) {
			return true
		}
	}
	return false
}

const (
	// secretForm is what secrets look like: HTTP headers, private keys, and the prefixes
	// of secrets of Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS and Google.
	secretForm = `(?i:\bbearer\s+\S|\bauthorization\\?["']?\s*[:=])|-----BEGIN|` +
		`\b(?:hf_(?:[a-z]*[A-Z0-9][A-Za-z0-9]{5}|[a-z]{16})|sk-[\w-]{16}|gh[oprsu]_\w{4}|github_pat_|glpat-|` +
		`xox[abprs]-|(?:AKIA|ASIA)[A-Z0-9]{8}|AIza[\w-]{20}|ya29\.|eyJ[\w-]{10,}\.eyJ)`
	// urlUser is the user and password of a URL, after the part that is kept;
	// urlUserAnywhere is the same for text of any syntax.
	urlUser         = `(?i)(https?://)[^\s/"'…]+@|(\w://)[^\s/"'…:]*:[^\s/"'…]+@`
	urlUserAnywhere = `(?i)https?://[^\s/…]+@|\w://[^\s/…:]*:[^\s/…]+@`
)

// withoutUsers hides users and passwords in the URLs of a text.
func withoutUsers(text string) string {
	return lazyregexp.Of(urlUser).ReplaceAllString(text, "${1}${2}"+hidden+"@")
}

// MayBeSecret reports whether a variable looks like a secret, by its name or its value.
func MayBeSecret(name, value string) bool { return LooksSecret(name) || hasSecret(value) }

// hasSecret reports whether a text contains something that looks like a secret, or
// assigns a value to a secret's name.
func hasSecret(text string) bool {
	return assignsSecret(text) || lazyregexp.Of(secretForm).MatchString(text) || lazyregexp.Of(urlUserAnywhere).MatchString(text)
}
