package submit

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
)

func TestCallText(t *testing.T) {
	function := func(kwargs map[string]string) api.Call {
		c := api.Call{Kind: api.CallFunction, File: "src/train.py", Module: "train", Function: "train", KWArgs: map[string]json.RawMessage{}}
		for name, value := range kwargs {
			c.KWArgs[name] = json.RawMessage(value)
		}
		return c
	}
	script := func(args ...string) api.Call { return api.Call{Kind: api.CallFile, File: "train.py", Args: args} }
	command := func(args ...string) api.Call { return api.Call{Kind: api.CallCommand, Args: args} }
	none := api.Request{}
	quiet := api.Request{HideArgs: true}
	for name, tt := range map[string]struct {
		request api.Request
		call    api.Call
		want    string
	}{
		"a function without arguments": {none, function(nil), `src/train.py:train()`},
		"arguments in the order given": {
			api.Request{Invocation: api.Invocation{KWArgs: []string{"name=x", "epochs=3"}}}, function(map[string]string{"epochs": "3", "name": `"x"`}),
			`src/train.py:train(name="x", epochs=3)`,
		},
		"a file, and a name that looks secret": {
			api.Request{Invocation: api.Invocation{KWArgs: []string{"config=@c.json", "hf_token=hush", "lr=1e-3"}}},
			function(map[string]string{"config": `{"a":1}`, "hf_token": `"hush"`, "lr": "1e-3"}),
			`src/train.py:train(config=…, hf_token=…, lr=1e-3)`,
		},
		"a secret inside of a value": {
			api.Request{Invocation: api.Invocation{KWArgs: []string{`o={"wandb":[{"api_key":"hush"}]}`, "sh=export HF_TOKEN=hush"}}},
			function(map[string]string{"o": `{"wandb":[{"api_key":"hush"}]}`, "sh": `"export HF_TOKEN=hush"`}),
			`src/train.py:train(o=…, sh=…)`,
		},
		"numbers of tokens": {
			api.Request{Invocation: api.Invocation{KWArgs: []string{"max_new_tokens=5", "tokenizer=x", `o={"nTokens":1}`}}},
			function(map[string]string{"max_new_tokens": "5", "tokenizer": `"x"`, "o": `{"nTokens":1}`}),
			`src/train.py:train(max_new_tokens=5, tokenizer="x", o={"nTokens":1})`,
		},
		"a value that is a secret by its form": {
			api.Request{Invocation: api.Invocation{KWArgs: []string{"a=hf_aB3dE6gH", `b=["Bearer hush"]`, "url=https://me:hush@host/x", `odd=https://me:hu"sh@host/x`}}},
			function(map[string]string{
				"a": `"hf_aB3dE6gH"`, "b": `["Bearer hush"]`, "url": `"https://me:hush@host/x"`, "odd": `"https://me:hu\"sh@host/x"`,
			}),
			`src/train.py:train(a=…, b=…, url="https://…@host/x", odd=…)`,
		},
		"a function of a module":           {none, api.Call{Kind: api.CallFunction, Module: "pkg.mod", Function: "f"}, "pkg.mod:f()"},
		"a function, without arguments":    {api.Request{Invocation: api.Invocation{KWArgs: []string{"a=1"}}, HideArgs: true}, function(map[string]string{"a": "1"}), "src/train.py:train(…)"},
		"a script":                         {none, script("--epochs", "1"), "train.py --epochs 1"},
		"words that a shell would change":  {none, script("a b", "it's", "", "x\ny", "\xff", "é"), `train.py 'a b' "it's" '' "x\ny" "\xff" 'é'`},
		"an option that looks secret":      {none, script("--api-key", "hush", "--epochs", "1"), "train.py --api-key … --epochs 1"},
		"a secret that begins with a dash": {none, script("--password", "-hush", "--", "x"), "train.py --password … -- x"},
		"a secret behind two dashes":       {none, script("--api-key", "--", "hush"), "train.py --api-key -- …"},
		"the same with an equals sign":     {none, script("--api-key=hush", "--epochs=1"), "train.py --api-key=… --epochs=1"},
		"a switch that looks secret":       {none, script("--use-token", "--epochs", "1"), "train.py --use-token … 1"},
		"a setting that looks secret":      {none, script("wandb.api_key=hush", "lr=1"), "train.py wandb.api_key=… lr=1"},
		"a script, without arguments":      {quiet, script("a"), "train.py …"},
		"a script that has none":           {quiet, script(), "train.py"},
		"a module":                         {none, api.Call{Kind: api.CallModule, Module: "pkg.mod", Args: []string{"-v"}}, "python -m pkg.mod -v"},
		"a command":                        {none, command("torchrun", "--nproc", "2", "train.py"), "torchrun --nproc 2 train.py"},
		"a command with a secret":          {none, command("env", "HF_TOKEN=hush", "python", "x.py"), "env HF_TOKEN=… python x.py"},
		"a shell script with a secret":     {none, command("sh", "-c", "curl -H 'X-Token: hush' x"), "sh -c …"},
		"one with an option":               {none, command("sh", "-c", "login --password hush"), "sh -c …"},
		"options about tokens":             {none, script("--max-tokens", "5", "--tokenizer=x", "n_tokens=3"), "train.py --max-tokens 5 --tokenizer=x n_tokens=3"},
		"a secret by its form":             {none, script("hf_aB3dE6gH", "--id=hf_aB3dE6gH", "-H", "Authorization: Bearer hush"), "train.py … --id=… -H …"},
		"a user and a password":            {none, script("https://me:hush@host/x", "--to=https://hush@host"), "train.py https://…@host/x --to=https://…@host"},
		"a secret in a setting":            {none, command("docker", "--env=HF_TOKEN=hush", `{"api_key":"hush"}`), "docker --env=… …"},
		"a command, without arguments":     {quiet, command("sh", "-c", "x"), "sh …"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := callText(tt.request, tt.call, nil, nil); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got, want := callText(none, function(nil), nil, &api.Map{Inputs: 1000}), "src/train.py:train() for each of 1000 inputs"; got != want {
		t.Errorf("of a map: got %s, want %s", got, want)
	}
}

func TestCallTextIsCut(t *testing.T) {
	for _, arg := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 5000)} {
		got := callText(api.Request{}, api.Call{Kind: api.CallFile, File: "a.py", Args: []string{arg}}, nil, nil)
		if len(got) > maxCallText || len(got) < maxCallText-4 || !strings.HasSuffix(got, "…") || !utf8.ValidString(got) {
			t.Errorf("got %d bytes: %.20q … %q", len(got), got, got[len(got)-9:])
		}
	}
}
