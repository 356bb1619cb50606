kubectl kinetic run train.py:train -a l4x2:spot --project my-project --arg epochs=3 --explain
# A mistake is found before anything starts
kubectl kinetic run train.py:train -a l5 --project my-project
