package submit

import (
	"strings"
	"testing"
)

func TestLooksSecret(t *testing.T) {
	for _, name := range []string{
		"token", "TOKEN", "HF_TOKEN", "hf-token", "hfToken", "tokenId", "apiKey", "api_key", "APIKEY", "apikey",
		"openai-key", "--api-key",
		"wandb.api_key", "db_password", "PASSWORD2", "passWord", "PGPASSWORD", "clientSecret",
		"GOOGLE_APPLICATION_CREDENTIALS", "keys",
		"API_KEYS", "API_TOKENS", "hf_tokens", "accessTokens", "authtokens", "max_tokens_secret",
		"tokens", "SLACK_TOKENS", "deploy_tokens", "user-tokens", "digit_tokens", "admin_tokens",
		"tokenizer_key", "MY_TOKENIZER_TOKEN",
	} {
		if !LooksSecret(name) {
			t.Errorf("%s does not look like a secret", name)
		}
	}
	for _, name := range []string{
		"", "epochs", "max_tokens", "--max-tokens", "max_new_tokens", "maxTokens", "MAX_TOKENS",
		"n_tokens", "num_prompt_tokens",
		"tokenizer", "hf_tokenizer", "TOKENIZERS_PARALLELISM", "tokenizer2", "tokenized", "detokenize",
		"tokenisation", "keyframes", "keyframe",
		"num_keypoints", "hf_max_tokens", "keyword", "monkey", "keyboard",
	} {
		if LooksSecret(name) {
			t.Errorf("%s looks like a secret", name)
		}
	}
}

func TestHasSecret(t *testing.T) {
	x := strings.Repeat("x", 20)
	for _, text := range []string{
		"Bearer xxx", "authorization: Basic eHh4",
		"-H 'Authorization: Bearer xxx'", `{"Authorization":"xxx"}`, "-----BEGIN PRIVATE KEY-----",
		"hf_" + x, "hf_aB3dE6gH", "sk-proj-" + x, "ghp_" + x, "github_pat_" + x, "AKIAIOSFODNN7EXAMPLE",
		"AIza" + x, "ya29." + x, "eyJ" + x + ".eyJ" + x,
		"echo hf_aB3dE6gH | login", "https://user:pass@host/", "https://pass@host/", "postgres://user:pa'ss@host/db",
		"export HF_TOKEN=hush", "login --password hush", "tokens token=hush", `{\"api_key\": 1}`,
	} {
		if !hasSecret(text) {
			t.Errorf("%s has no secret", text)
		}
	}
	for _, text := range []string{
		"", "a token", "hf_datasets", "hf_checkpoints", "sk-learn", "disk-" + x, "git@host:repo",
		"ssh://git@host/repo", "https://host:8080/a@b",
		"gs://bucket/a:b@c", "me@example.com", "--max-tokens 5", "tokenizer=x", "the bearer", "https://…@host/",
	} {
		if hasSecret(text) {
			t.Errorf("%s has a secret", text)
		}
	}
}
