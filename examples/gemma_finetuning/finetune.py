"""Fine-tune Gemma with LoRA in KerasHub, on a TPU.

    export KAGGLE_USERNAME=… KAGGLE_KEY=…      # an account that has accepted Gemma's licence
    python3 examples/gemma_finetuning/finetune.py questions.jsonl

Each line of the file is a JSON object with the members "question" and "answer". The two variables travel
as a Kubernetes Secret.
"""

import argparse
import json

import kinetic


@kinetic.run(accelerator="tpu-v6e-8", secrets=["KAGGLE_USERNAME", "KAGGLE_KEY"], retries=3)
def finetune(examples, preset="gemma3_instruct_1b", epochs=1):
    """Fit LoRA weights to the file of examples; return what the model then answers to the first question."""
    import keras
    import keras_hub

    with open(examples, encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    keras.distribution.set_distribution(keras.distribution.DataParallel())
    model = keras_hub.models.Gemma3CausalLM.from_preset(preset)
    model.backbone.enable_lora(rank=8)
    model.preprocessor.sequence_length = 512
    optimizer = keras.optimizers.AdamW(learning_rate=5e-5)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(loss=loss, optimizer=optimizer, weighted_metrics=[keras.metrics.SparseCategoricalAccuracy()])
    model.fit([prompt(p["question"]) + p["answer"] for p in pairs], epochs=epochs, batch_size=8, verbose=2)
    model.backbone.save_lora_weights(f"{kinetic.output_dir()}/gemma.lora.h5")
    return model.generate(prompt(pairs[0]["question"]), max_length=128)


def prompt(question: str) -> str:
    """Return a question in the form that Gemma's instruct models were trained with."""
    return f"<start_of_turn>user\n{question}<end_of_turn>\n<start_of_turn>model\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", help="the file of examples")
    job = finetune.run_async(kinetic.Data(parser.parse_args().questions))
    print(f"{job.job_id}: follow it with job.result(stream_logs=True), or from the shell: kinetic jobs logs -f {job.job_id}")
    print(job.result())
