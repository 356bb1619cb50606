"""Fine-tune a language model with LoRA in transformers and peft, on a GPU that may be taken away.

    export HF_TOKEN=…
    python3 examples/llm_finetuning/finetune.py

The data set comes from the Hugging Face Hub. The trainer saves checkpoints; after a preemption it continues from
the last one.
"""

import argparse
import os

import kinetic


@kinetic.run(accelerator="l4", spot=True, secrets=["HF_TOKEN"], max_runtime="6h")
def finetune(data, model="Qwen/Qwen3-0.6B", steps=500):
    """Fit LoRA weights to the data set; return the last losses that were logged."""
    import datasets
    from peft import LoraConfig
    from transformers.trainer_utils import get_last_checkpoint
    from trl import SFTConfig, SFTTrainer

    out = kinetic.checkpoint_dir()
    trainer = SFTTrainer(
        model=model,
        train_dataset=datasets.load_from_disk(data)["train"],
        peft_config=LoraConfig(r=16, target_modules="all-linear"),
        args=SFTConfig(output_dir=out, max_steps=steps, save_steps=50, save_total_limit=2, logging_steps=10, bf16=True),
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(out) if os.path.isdir(out) else None)
    trainer.save_model(os.path.join(kinetic.output_dir(), "adapter"))
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry][-3:]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(finetune(kinetic.Data("hf://trl-lib/Capybara")))
