//! Folders of every kind, through the door. Each case runs with every way of going down and opening.

mod glances;
mod hang;
mod ignore_files;
mod limits;
mod looks;
mod mounts;
mod museum;
mod nested;
mod order;
mod own;
mod privilege;
mod race;
mod reads;
mod roots;
mod support;
mod trail;
