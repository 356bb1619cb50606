cat train.py
for rate in 0.1 0.3 0.9; do kubectl kinetic run train.py:fit --local -d --arg rate=$rate; done
:kubectl kinetic jobs wait --local $(kubectl kinetic jobs list --local -o name) || true
kubectl kinetic jobs list --local -o results
# Or as one job with many inputs
cat grid.jsonl
kubectl kinetic run train.py:fit --local --map grid.jsonl -o inputs
