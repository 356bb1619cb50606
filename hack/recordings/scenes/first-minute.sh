cat train.py
kubectl kinetic run train.py:train --local --arg epochs=4
# A mistake is found before anything starts
kubectl kinetic run train.py:train --local --arg epochs=4.5
# The same file as a Python program: a call runs the function, and returns its value
python3 train.py 2>job.log
