package jobs

import (
	"encoding/json"
	"testing"
)

func TestArgumentsOfACall(t *testing.T) {
	for call, want := range map[string]struct{ text, values string }{
		`src/train.py:train(lr=0.1, epochs=3)`:               {"lr=0.1 epochs=3", `{"epochs":3,"lr":0.1}`},
		`pkg.mod:f()`:                                        {"", "null"},
		`train.py:train(name="a b", o={"n":[1,2]}, on=true)`: {`name="a b" o={"n":[1,2]} on=true`, `{"name":"a b","o":{"n":[1,2]},"on":true}`},
		`train.py:train(name="x, y=1)", lr=1e-3)`:            {`name="x, y=1)" lr=1e-3`, `{"lr":1e-3,"name":"x, y=1)"}`},
		`train.py:train(name="best", hf_token=…, n=2)`:       {"name=best hf_token=… n=2", `{"hf_token":null,"n":2,"name":"best"}`},
		`train.py:train(data=gs://b/d, lr=1)`:                {"data=gs://b/d lr=1", `{"data":null,"lr":1}`},
		`train.py:train(…)`:                                  {"…", "null"},
		`train.py:train(x="a long text that was c…`:          {`x="a long text that was c…`, `{"x":null}`},
		`train.py:train(lr=1) for each of 10 inputs`:         {"lr=1", `{"lr":1}`},
		`train(lr=0.1, model=…, name="x")`:                   {"lr=0.1 model=… name=x", `{"lr":0.1,"model":null,"name":"x"}`},
		`<lambda>(…)`:                                        {"…", "null"},
		`Model.fit() for each of 3 inputs`:                   {"", "null"},
		`'a(b=1).py' c=2`:                                    {"c=2", "null"},
		`train.py --lr 0.1`:                                  {"--lr 0.1", "null"},
		`python -m pkg.mod -v`:                               {"-v", "null"},
		`train.py`:                                           {"", "null"},
		`sh -c 'a:b(c=1)'`:                                   {"-c 'a:b(c=1)'", "null"},
		``:                                                   {"", "null"},
	} {
		values, err := json.Marshal(argumentValues(call))
		if got := argumentText(call); err != nil || got != want.text || string(values) != want.values {
			t.Errorf("%s: got %s and %s, %v; want %s and %s", call, got, values, err, want.text, want.values)
		}
	}
}
